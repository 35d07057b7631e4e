//! The configuration as it is written, for the one command that may change it.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use serde::Serialize;
use serde_json::Value;

use crate::files::private_file::write_new;
use crate::outcome::CommandError;

/// The whole of it, also what nothing here knows.
pub(super) struct Root {
    pub(super) value: Value,
    /// Whether the file is plain JSON, which loses nothing when it is written again; comments would be lost.
    is_plain: bool,
    text: String,
}

/// How the repaired configuration was written.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase", tag = "how", rename_all_fields = "camelCase")]
pub(super) enum SecretForm {
    /// In place; the copy is what was there.
    InPlace {
        /// The copy.
        backup: PathBuf,
    },
    /// Beside it, because it has comments or other things that would be lost.
    Beside {
        /// The repaired one, to be put in place by hand.
        path: PathBuf,
    },
}

/// The configuration cannot be written.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot write {}; make its folder writable, and run doctor --fix again",
    path.display()
)]
struct WriteError {
    path: PathBuf,
    #[source]
    source: io::Error,
}

/// Reads the file; an empty object when there is none.
///
/// # Errors
/// When it is there and cannot be read.
pub(super) fn read(path: &Path) -> Result<Root, CommandError> {
    let Some(text) = openclaw_config::read(path)? else {
        return Ok(Root {
            value: Value::Object(serde_json::Map::new()),
            is_plain: true,
            text: String::new(),
        });
    };
    Ok(Root {
        value: openclaw_config::parse_root(path, &text)?,
        is_plain: serde_json::from_str::<Value>(&text).is_ok(),
        text,
    })
}

/// Writes the repaired configuration: in place when nothing is lost by it, after a copy; else beside it.
///
/// # Errors
/// When a file cannot be written; the configuration is as it was then.
pub(super) fn write(
    path: &Path,
    root: &Root,
    config: &Value,
    now: Timestamp,
) -> Result<SecretForm, CommandError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| WriteError { path, source }
    };
    let text = format!("{config:#}\n");
    let with_suffix = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let fresh = with_suffix(&format!(".repaired.{}", now.as_millisecond()));
    write_new(&fresh, &text).map_err(failed(&fresh))?;
    if !root.is_plain {
        return Ok(SecretForm::Beside { path: fresh });
    }
    let backup = with_suffix(&format!(".doctor.{}.bak", now.as_millisecond()));
    write_new(&backup, &root.text).map_err(failed(&backup))?;
    std::fs::rename(&fresh, path).map_err(failed(path))?;
    Ok(SecretForm::InPlace { backup })
}
