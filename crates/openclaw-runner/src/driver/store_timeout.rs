//! How long a run waits for a store that is busy.

use std::future::Future;
use std::time::Duration;

/// Far longer than any write takes, and shorter than anybody wants to wait for an answer that is there already.
const PATIENCE: Duration = Duration::from_secs(2);

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble<E: std::error::Error + 'static> {
    /// Somebody else keeps it busy.
    #[error("the store was busy for {} s; the change keeps its place and is written when it can be", PATIENCE.as_secs())]
    Busy,
    /// It said no.
    #[error(transparent)]
    Failed(E),
}

/// Waits for a store, but not for ever: an answer is worth more than a mark, and what was handed over is written later.
pub(crate) async fn patiently<T, E: std::error::Error + 'static>(
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, Trouble<E>> {
    match tokio::time::timeout(PATIENCE, Box::pin(work)).await {
        Ok(done) => done.map_err(Trouble::Failed),
        Err(_) => Err(Trouble::Busy),
    }
}
