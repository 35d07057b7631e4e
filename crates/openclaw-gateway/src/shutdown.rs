//! What the operator wishes by signals: to end the process, to read the configuration again.

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

/// The operator's wishes to read the configuration again: hangup signals. Where there are none, nobody wishes it.
#[derive(Debug)]
pub(crate) struct Hangups {
    #[cfg(unix)]
    signal: tokio::signal::unix::Signal,
}

impl Hangups {
    /// Listens from now on; before, such a signal ends the process.
    ///
    /// # Errors
    /// When the system refuses to deliver signals.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            signal: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup())?,
        })
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) {
        #[cfg(unix)]
        if self.signal.recv().await.is_some() {
            return;
        }
        std::future::pending::<()>().await;
    }
}
