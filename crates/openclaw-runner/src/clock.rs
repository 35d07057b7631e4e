//! The clock of a run; the only code that reads the system time.

use jiff::Timestamp;

/// Tells the time. Everything below the driver receives it as an argument.
pub trait Clock: Send + Sync {
    /// The present instant.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one reader of the clock")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}
