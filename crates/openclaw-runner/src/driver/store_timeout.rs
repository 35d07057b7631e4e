//! The timeout for a store that is busy.

use std::future::Future;
use std::time::Duration;

/// How long a run waits for a store: far longer than any write takes, and shorter than a client waits gladly for an answer
/// that is there already.
const STORE_TIMEOUT: Duration = Duration::from_secs(2);

/// Why a write or read of a store has no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreFailure<E: std::error::Error + 'static> {
    /// Other writers keep it busy.
    #[error("the store was busy for {} s; the change keeps its place and is written when it can be", STORE_TIMEOUT.as_secs())]
    Busy,
    /// The store returned an error.
    #[error(transparent)]
    Failed(E),
}

/// Waits for a store, but not for ever: an answer is worth more than a mark, and what was handed over is written later.
pub(crate) async fn within_timeout<T, E: std::error::Error + 'static>(
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, StoreFailure<E>> {
    match tokio::time::timeout(STORE_TIMEOUT, Box::pin(work)).await {
        Ok(done) => done.map_err(StoreFailure::Failed),
        Err(_) => Err(StoreFailure::Busy),
    }
}
