//! Reads older files, and sets them aside once the store has their content (G29 to G34).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use openclaw_ids::ProfileId;
use serde_json::{Map, Value, json};

use super::{LegacyFile, LegacyProfiles, LegacyTexts};
use crate::{Cause, StoreError};
use openclaw_sqlite::{read_if_exists, with_suffix, write_new_private};

pub(crate) const FILES: &[LegacyFile] = &[LegacyFile::Profiles, LegacyFile::State, LegacyFile::Auth];

/// An agent folder that may hold older files.
#[derive(Debug, Clone)]
pub struct LegacyFolder(PathBuf);

/// The result of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// Profiles that the store did not have before.
    pub added: Vec<ProfileId>,
    /// Copies of the older files; the files themselves are gone.
    pub backups: Vec<PathBuf>,
    /// Files that were left where they are, because they cannot be read.
    pub left: Vec<PathBuf>,
    /// Keys of logins that OpenClaw has to complete first; they were left in `auth-profiles.json`.
    pub held_back: Vec<String>,
}

/// Why an import failed; the older files are in their place, or copied.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// A file could not be read, copied or removed.
    #[error("`{path}` could not be read, copied or removed; check its permissions and the space on its disk, and import again", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: Cause,
    },
    /// The store does not show what was imported; the files were left.
    #[error("the store does not show what was imported; the older files were left, import again")]
    NotStored,
    /// The store could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl LegacyFolder {
    /// The folder of an agent.
    pub fn new(agent_dir: &Path) -> Self {
        Self(agent_dir.to_owned())
    }

    /// Whether there is any older file.
    pub fn has_files(&self) -> bool {
        FILES.iter().any(|file| self.path(*file).exists())
    }

    /// Reads the files.
    ///
    /// # Errors
    /// [`ImportError::File`] for one that is there and cannot be read.
    pub fn read(&self) -> Result<LegacyProfiles, ImportError> {
        let text = |file| read_text(&self.path(file));
        let (profiles, state, auth) = (
            text(LegacyFile::Profiles)?,
            text(LegacyFile::State)?,
            text(LegacyFile::Auth)?,
        );
        Ok(LegacyProfiles::read(LegacyTexts {
            profiles: profiles.as_deref(),
            state: state.as_deref(),
            auth: auth.as_deref(),
        }))
    }

    /// Leaves the incomplete logins, and their usage, for OpenClaw (G34).
    pub(crate) fn write_held_back(&self, legacy: &LegacyProfiles) -> Result<(), ImportError> {
        let mut usage = Map::new();
        for (id, stats) in legacy.state.usage_entries() {
            if legacy.held_back.contains_key(id.as_str()) {
                usage.insert(id.as_str().to_owned(), stats.clone());
            }
        }
        let mut document = json!({"version": 1, "profiles": legacy.held_back});
        if !usage.is_empty() {
            document["usageStats"] = Value::Object(usage);
        }
        let path = self.path(LegacyFile::Profiles);
        write_new_private(&path, document.to_string().as_bytes()).map_err(|error| failed(&path, error))
    }

    pub(crate) fn path(&self, file: LegacyFile) -> PathBuf {
        self.0.join(file.name())
    }
}

/// The text of a file; `None` when there is none.
pub(crate) fn read_text(path: &Path) -> Result<Option<String>, ImportError> {
    let bytes = read_if_exists(path).map_err(|error| failed(path, error))?;
    // A file that is not text is not JSON either, and is recorded as unreadable.
    Ok(bytes.map(|bytes| String::from_utf8(bytes).unwrap_or_default()))
}

/// Copies a file to `<file>.sqlite-import.<ms>.bak`, readable by its owner alone, and removes it.
pub(crate) fn set_aside(path: &Path, now: Timestamp) -> Result<PathBuf, ImportError> {
    let backup = with_suffix(path, &format!(".sqlite-import.{}.bak", now.as_millisecond()));
    let bytes = fs::read(path).map_err(|error| failed(path, error))?;
    write_new_private(&backup, &bytes).map_err(|error| failed(&backup, error))?;
    fs::remove_file(path).map_err(|error| failed(path, error))?;
    Ok(backup)
}

pub(crate) fn failed(path: &Path, error: io::Error) -> ImportError {
    ImportError::File {
        path: path.to_owned(),
        source: Arc::new(error),
    }
}
