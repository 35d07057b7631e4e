//! The operator's wish to end the process.

use std::io;

/// Waits for the operator to end the process: an interrupt (Ctrl-C) or a termination request.
///
/// # Errors
/// When the system refuses to deliver signals.
pub(crate) async fn signal() -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminated = signal(SignalKind::terminate())?;
        tokio::select! {
            interrupted = tokio::signal::ctrl_c() => interrupted,
            _ = terminated.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}
