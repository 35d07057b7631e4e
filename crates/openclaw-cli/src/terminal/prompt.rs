//! Reads a secret from standard input or a hidden prompt; never from an argument, which every process of the machine can see.

use std::io::{self, BufRead, IsTerminal, Read, Write};

use openclaw_auth_store::Secret;

/// The longest secret that is read, in bytes.
const LIMIT: u64 = 64 * 1024;

/// Nothing came that could be a secret.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SecretInputError {
    /// It was blank.
    #[error(
        "no secret came by standard input; pipe it, for example `auth add openai < key.txt`, or use --from-env"
    )]
    Blank,
    /// There was more than one.
    #[error(
        "more than one line came by standard input, and a secret is one line; pipe that line alone, and other secrets \
         by commands of their own"
    )]
    Lines,
    /// It was more than any secret.
    #[error("more than {LIMIT} bytes came by standard input; pipe the secret alone")]
    Long,
    /// It was no text.
    #[error("what came by standard input is no text in UTF-8; pipe the secret as one line of plain text")]
    NoText,
    /// It could not be read.
    #[error("the secret cannot be read from standard input; try --from-env")]
    Unreadable(#[source] io::Error),
}

/// Reads a secret from standard input: a hidden line at a terminal, the only line that is not blank otherwise.
///
/// # Errors
/// When nothing usable comes.
pub(crate) fn read_secret(what: &str) -> Result<Secret, SecretInputError> {
    let input = io::stdin();
    let text = if input.is_terminal() {
        hidden_line(what, &input).map(String::into_bytes)
    } else {
        let mut text = Vec::new();
        // One more than may be, so that a longer one is not cut to another secret.
        input.lock().take(LIMIT + 1).read_to_end(&mut text).map(|_| text)
    };
    one_secret(&text.map_err(SecretInputError::Unreadable)?)
}

/// The secret in `bytes`. Lines are never joined: two keys would become one that no provider knows.
fn one_secret(bytes: &[u8]) -> Result<Secret, SecretInputError> {
    if u64::try_from(bytes.len()).is_ok_and(|length| length > LIMIT) {
        return Err(SecretInputError::Long);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| SecretInputError::NoText)?;
    let mut secrets = text.split(['\n', '\r']).filter_map(Secret::pasted);
    let secret = secrets.next().ok_or(SecretInputError::Blank)?;
    match secrets.next() {
        None => Ok(secret),
        Some(_) => Err(SecretInputError::Lines),
    }
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
    pub(crate) struct Off<'i> {
        input: &'i io::Stdin,
        before: Termios,
    }

    pub(crate) fn off(input: &io::Stdin) -> io::Result<Off<'_>> {
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

    pub(crate) fn off(_: &io::Stdin) -> io::Result<()> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "a terminal of this system would show it; pipe it or use --from-env",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_one_line() {
        for (text, expected) in [
            ("sk-1", Some("sk-1")),
            ("sk-1\n", Some("sk-1")),
            ("\r\n  sk-1 \r\n\n", Some("sk-1")),
            ("sk-1\nsk-2\n", None),
            ("sk-1\rsk-2", None),
            (" \n\r\n", None),
            ("", None),
        ] {
            let read = one_secret(text.as_bytes()).ok();
            assert_eq!(read.as_ref().map(Secret::expose), expected, "{text:?}");
        }
        let error = one_secret(b"sk-first\nsk-second").unwrap_err();
        assert!(matches!(error, SecretInputError::Lines), "{error}");
    }

    #[test]
    fn what_is_too_long_or_no_text_is_refused_and_not_cut() {
        let most = usize::try_from(LIMIT).unwrap();
        let long = vec![b'k'; most + 1];
        assert_eq!(one_secret(&long[..most]).unwrap().expose().len(), most);
        assert!(matches!(one_secret(&long), Err(SecretInputError::Long)));
        let utf16 = b"\xff\xfes\0k\0";
        assert!(matches!(one_secret(utf16), Err(SecretInputError::NoText)));
    }
}
