//! A progress line on a terminal while a command waits.

use std::future::Future;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

/// How often the sign is renewed, and how long nothing is shown at first.
const EVERY: Duration = Duration::from_secs(1);

/// Waits for `work`; from the first second on, standard error says what is waited for, when it is a terminal.
pub(crate) async fn waiting<T>(what: &str, work: impl Future<Output = T>) -> T {
    let mut output = io::stderr();
    if !output.is_terminal() {
        return work.await;
    }
    tokio::pin!(work);
    let mut seconds = 0_u64;
    loop {
        tokio::select! {
            done = &mut work => {
                if seconds > 0 {
                    // A closed terminal is no error.
                    let _ = write!(output, "\r\u{1b}[K");
                }
                return done;
            }
            () = tokio::time::sleep(EVERY) => {
                seconds += 1;
                let _ = write!(output, "\r\u{1b}[K{what} … {seconds}s");
                let _ = output.flush();
            }
        }
    }
}
