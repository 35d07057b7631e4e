//! Finds and repairs leftovers of older versions (auth-store.md 9.3): one file per repair.
//!
//! Each repair changes values and returns what it changed, so that a dry run is a repair of a copy. [`repair_file`]
//! repairs one file, after a copy that only its owner may read. [`DoctorPlan`] finds and does all of them in their
//! order.

mod aws_markers;
mod codex;
mod config_credentials;
mod finding;
mod paths;
mod plan;
mod stale_copies;

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;

use crate::ImportError;
use crate::import::failed;
use aws_markers::move_aws_markers;
use codex::{CodexRenames, codex_renames};
use config_credentials::take_config_credentials;
use openclaw_sqlite::{read_if_exists, with_suffix, write_new_private};
use stale_copies::stale_copies;

pub use finding::DoctorFinding;
pub use paths::{AgentFolder, DoctorPaths};
pub use plan::{DoctorError, DoctorOutcome, DoctorPlan};

/// Repairs a JSON file: `repair` says whether it changed anything.
///
/// The file is first copied to `<file>.<suffix>.<ms>.bak`, readable by its owner alone, and then replaced in one step.
/// The copy is returned; `None` when there is no such file, when it is no JSON, or when nothing had to be repaired.
///
/// # Errors
/// [`ImportError::File`] when it cannot be read, copied or replaced; it is as it was then.
fn repair_file(
    path: &Path,
    suffix: &str,
    now: Timestamp,
    repair: impl FnOnce(&mut Value) -> bool,
) -> Result<Option<PathBuf>, ImportError> {
    let Some(bytes) = read_if_exists(path).map_err(|error| failed(path, error))? else {
        return Ok(None);
    };
    let Ok(mut document) = serde_json::from_slice::<Value>(&bytes) else {
        return Ok(None);
    };
    if !repair(&mut document) {
        return Ok(None);
    }
    let millisecond = now.as_millisecond();
    let backup = with_suffix(path, &format!(".{suffix}.{millisecond}.bak"));
    write_new_private(&backup, &bytes).map_err(|error| failed(&backup, error))?;
    let fresh = with_suffix(path, &format!(".{suffix}.{millisecond}.new"));
    write_new_private(&fresh, document.to_string().as_bytes()).map_err(|error| failed(&fresh, error))?;
    fs::rename(&fresh, path).map_err(|error| failed(path, error))?;
    Ok(Some(backup))
}

#[cfg(test)]
mod tests;
