//! The signals that end the process or have the configuration read again.

use std::io;

/// The signals that end the process: interrupts (Ctrl-C) and termination requests.
#[derive(Debug)]
pub(crate) struct StopSignals {
    #[cfg(unix)]
    interrupts: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminations: tokio::signal::unix::Signal,
}

impl StopSignals {
    /// Listens from now on; before, such a signal ends the process at once.
    ///
    /// # Errors
    /// When the system refuses to deliver signals.
    pub(crate) fn listen() -> io::Result<Self> {
        #[cfg(unix)]
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            #[cfg(unix)]
            interrupts: signal(SignalKind::interrupt())?,
            #[cfg(unix)]
            terminations: signal(SignalKind::terminate())?,
        })
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.interrupts.recv() => (),
            _ = self.terminations.recv() => (),
        }
        #[cfg(not(unix))]
        if tokio::signal::ctrl_c().await.is_err() {
            // Without signals the process can only be killed, so it goes on.
            std::future::pending::<()>().await;
        }
    }
}

/// The signals that have the configuration read again: hangups. On systems without them none ever comes.
#[derive(Debug)]
pub(crate) struct HangupSignals {
    #[cfg(unix)]
    signal: tokio::signal::unix::Signal,
}

impl HangupSignals {
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
