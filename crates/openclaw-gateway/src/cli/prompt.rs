//! Secrets, read where nobody looks over a shoulder: never an argument, which every process of the machine can see.

use std::io::{self, BufRead, IsTerminal, Read, Write};

use openclaw_auth_store::Secret;

/// The longest secret that is read, in bytes.
const LIMIT: u64 = 64 * 1024;

/// Nothing came that could be a secret.
#[derive(Debug, thiserror::Error)]
pub(super) enum SecretInputError {
    /// It was blank.
    #[error(
        "no secret came by standard input; pipe it, for example `auth add openai < key.txt`, or use --from-env"
    )]
    Blank,
    /// It could not be read.
    #[error("the secret cannot be read from standard input")]
    Unreadable(#[source] io::Error),
}

/// Reads a secret from standard input: a hidden line at a terminal, everything otherwise.
///
/// # Errors
/// When nothing usable comes.
pub(super) fn read_secret(what: &str) -> Result<Secret, SecretInputError> {
    let input = io::stdin();
    let text = if input.is_terminal() {
        hidden_line(what, &input)
    } else {
        let mut text = String::new();
        input.lock().take(LIMIT).read_to_string(&mut text).map(|_| text)
    };
    let text = text.map_err(SecretInputError::Unreadable)?;
    Secret::pasted(&text).ok_or(SecretInputError::Blank)
}

/// One line that is not shown while it is typed.
fn hidden_line(what: &str, input: &io::Stdin) -> io::Result<String> {
    let mut prompt = io::stderr();
    write!(prompt, "{what} (not shown): ")?;
    prompt.flush()?;
    let shown = echo::off(input)?;
    let mut line = String::new();
    let read = input.lock().read_line(&mut line);
    drop(shown);
    writeln!(prompt)?;
    read.map(|_| line)
}

#[cfg(unix)]
mod echo {
    //! Turns the terminal's echo off for a while.

    use std::io;

    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

    /// Turns it on again when dropped.
    pub(super) struct Off<'i> {
        input: &'i io::Stdin,
        before: Termios,
    }

    pub(super) fn off(input: &io::Stdin) -> io::Result<Off<'_>> {
        let before = tcgetattr(input)?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        tcsetattr(input, OptionalActions::Flush, &silent)?;
        Ok(Off { input, before })
    }

    impl Drop for Off<'_> {
        fn drop(&mut self) {
            // The terminal may be gone by now.
            let _ = tcsetattr(self.input, OptionalActions::Flush, &self.before);
        }
    }
}

#[cfg(not(unix))]
mod echo {
    //! Where the echo cannot be turned off, a secret is not asked for.

    use std::io;

    pub(super) fn off(_: &io::Stdin) -> io::Result<()> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "a terminal of this system would show it; pipe it or use --from-env",
        ))
    }
}
