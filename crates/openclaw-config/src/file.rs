//! Reads a JSON5 file into types; an error says the file, line, column, key and remedy.

mod limits;
pub(crate) mod plain_words;
pub(crate) mod position;

use std::io;
use std::path::{Path, PathBuf};

use openclaw_classify::redact;
use serde::de::DeserializeOwned;

use limits::{MAX_BYTES, MAX_DEPTH, read_bounded, too_deep};
use plain_words::plain;

/// A file that cannot be used as a configuration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// A file that was there is not there any more.
    #[error("{} is gone; put it back, or restart the gateway to run without it", path.display())]
    Gone {
        /// The file.
        path: PathBuf,
    },
    /// A file that an argument or a variable names is not there.
    #[error("{} does not exist; {named_by} names it: correct the path, or leave it out for the usual place", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// What names it: an argument or a variable.
        named_by: &'static str,
    },
    /// The file is not JSON5.
    #[error("{}:{line}:{column}: {what}; the file must be one JSON5 object", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
        /// What the parser met or missed.
        what: String,
    },
    /// Objects and lists are nested deeper than any configuration needs.
    #[error(
        "{}:{line}:{column}: objects and lists are nested more than {MAX_DEPTH} deep; remove levels here, or name the \
         right file",
        path.display()
    )]
    TooDeep {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
    },
    /// The file is larger than any configuration.
    #[error(
        "{} is larger than {} MiB, the most that is read; name the right file, or remove what is no setting",
        path.display(),
        MAX_BYTES >> 20
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The file exists and cannot be read.
    #[error("cannot read {}; check that it is a text file this user may read", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A known key has a value of the wrong kind.
    #[error("{}:{line}:{column}: {key}: {what}", path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
        /// The key, from the root.
        key: String,
        /// What is wrong and what is expected.
        what: String,
    },
}

/// The text of a file; `None` when there is no such file.
///
/// # Errors
/// When it cannot be read, or is larger than 4 MiB.
pub fn read(path: &Path) -> Result<Option<String>, FileError> {
    match std::fs::File::open(path).and_then(read_bounded) {
        Ok(Some(text)) => Ok(Some(text)),
        Ok(None) => Err(FileError::TooLarge {
            path: path.to_owned(),
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(FileError::Unreadable {
            path: path.to_owned(),
            source,
        }),
    }
}

/// Refuses a missing file that an argument or a variable names: a typing error must not mean the defaults.
pub(crate) fn require(path: &Path, named_by: &'static str) -> Result<(), FileError> {
    match path.try_exists() {
        Ok(false) => Err(FileError::Missing {
            path: path.to_owned(),
            named_by,
        }),
        // A path that cannot be inspected is reported when the file is read.
        Ok(true) | Err(_) => Ok(()),
    }
}

/// The whole text as JSON, which proves its syntax and its limits.
///
/// # Errors
/// When it is not one JSON5 object, or nested too deep.
pub fn parse_root(path: &Path, text: &str) -> Result<serde_json::Value, FileError> {
    if let Some((line, column)) = too_deep(text) {
        return Err(FileError::TooDeep {
            path: path.to_owned(),
            line,
            column,
        });
    }
    let root: serde_json::Value = json5::from_str(text).map_err(|error| {
        let (line, column) = position(&error, text);
        FileError::Syntax {
            path: path.to_owned(),
            line,
            column,
            what: describe(&error),
        }
    })?;
    if root.is_object() {
        return Ok(root);
    }
    let what = "this is not an object".to_owned();
    Err(FileError::Syntax {
        path: path.to_owned(),
        line: 1,
        column: 1,
        what,
    })
}

/// `text`, whose syntax was checked, as a `T`.
pub(crate) fn parse_as<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, FileError> {
    let mut deserializer = json5::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        // A key may be a secret in the wrong place.
        let key = redact(&error.path().to_string());
        let error = error.into_inner();
        let (line, column) = position(&error, text);
        FileError::Value {
            path: path.to_owned(),
            line,
            column,
            key,
            what: describe(&error),
        }
    })
}

/// Line and column from 1; the end of the text when the parser reports no position.
fn position(error: &json5::Error, text: &str) -> (usize, usize) {
    let at = error
        .position()
        .unwrap_or_else(|| json5::Position::from_offset(text.len(), text));
    (at.line + 1, at.column + 1)
}

/// The parser's error codes in plain words.
const EXPECTED: &[(json5::ErrorCode, &str)] = &[
    (json5::ErrorCode::ExpectedBool, "expected true or false"),
    (json5::ErrorCode::ExpectedIdentifier, "expected a key or `}`"),
    (json5::ErrorCode::ExpectedNumber, "expected a number"),
    (
        json5::ErrorCode::ExpectedOpeningBrace,
        "expected an object such as { … }",
    ),
    (
        json5::ErrorCode::ExpectedOpeningBracket,
        "expected a list such as [ … ]",
    ),
    (json5::ErrorCode::ExpectedString, "expected a text in quotes"),
    (
        json5::ErrorCode::ExpectedStringOrObject,
        "expected a text in quotes",
    ),
];

/// The message without its position, and without anything that looks like a secret.
fn describe(error: &json5::Error) -> String {
    if let Some((_, words)) = EXPECTED.iter().find(|(code, _)| error.code() == Some(*code)) {
        return (*words).to_owned();
    }
    let text = error.to_string();
    let position = error.position().map(|at| format!(" at {at}")).unwrap_or_default();
    redact(&plain(text.strip_suffix(&position).unwrap_or(&text)))
}

#[cfg(test)]
mod tests;
