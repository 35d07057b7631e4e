//! How a connection waits while another one holds a lock.

use std::time::Duration;

use rusqlite::Connection;

/// Waits once more and returns true, or gives up and returns false; the argument is how often it has waited.
pub type BusyHandler = fn(i32) -> bool;

/// How long one wait lasts. SQLite's own waits grow to a tenth of a second, and a connection that waits that long loses
/// against a busy writer every time; short equal waits give all connections the same chance.
const STEP: Duration = Duration::from_millis(1);

/// A [`BusyHandler`] that waits in equal steps of one millisecond, `STEPS` of them at most.
pub fn wait_in_steps<const STEPS: i32>(waits: i32) -> bool {
    if waits >= STEPS {
        return false;
    }
    std::thread::park_timeout(STEP);
    true
}

/// How a connection waits while another one holds a lock.
#[derive(Debug, Clone, Copy)]
pub enum BusyWait {
    /// Asks a function after each wait, such as [`wait_in_steps`].
    Handler(BusyHandler),
    /// Does not wait.
    None,
    /// Waits in growing steps, as SQLite does by itself, for this long in total.
    Timeout(Duration),
}

impl BusyWait {
    /// Sets how the connection waits from now on.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn apply(self, connection: &Connection) -> rusqlite::Result<()> {
        match self {
            Self::Handler(handler) => connection.busy_handler(Some(handler)),
            Self::None => connection.busy_handler(None),
            Self::Timeout(timeout) => connection.busy_timeout(timeout),
        }
    }

    /// Waits once more, after `waits` waits; false when it is time to give up. For steps in which SQLite does not wait.
    pub(super) fn again(self, waits: i32) -> bool {
        match self {
            Self::Handler(handler) => handler(waits),
            Self::None => false,
            Self::Timeout(timeout) => {
                let waited = STEP.saturating_mul(u32::try_from(waits).unwrap_or(u32::MAX));
                if waited >= timeout {
                    return false;
                }
                std::thread::park_timeout(STEP);
                true
            }
        }
    }
}
