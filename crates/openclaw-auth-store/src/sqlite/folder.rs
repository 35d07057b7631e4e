//! The agent's folder, and the permissions of what is in it (auth-store.md 1.4).

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openclaw_ids::AgentId;
use openclaw_sqlite::{
    HeaderError, create_private_file, create_private_folder, restrict_database_files, restrict_folder,
};

use crate::OpenError;

/// The store's name in the folder.
pub(super) const FILE_NAME: &str = "openclaw-agent.sqlite";

/// Creates the folder (L20) and an empty private file (L21) where they are missing; true when the file existed.
///
/// An existing folder that is not the default one of the agent keeps its mode.
pub(super) fn prepare(folder: &Path, agent: &AgentId) -> Result<(PathBuf, bool), OpenError> {
    if folder.is_file() {
        return Err(OpenError::NotAFolder {
            path: folder.to_owned(),
        });
    }
    let existed = folder.is_dir();
    create_private_folder(folder).map_err(|error| unusable(folder, error))?;
    if !existed || is_default(folder, agent) {
        restrict_folder(folder).map_err(|error| unusable(folder, error))?;
    }
    let path = folder.join(FILE_NAME);
    let existed = path.exists();
    if existed {
        check_header(&path)?;
    } else {
        create_private_file(&path).map_err(|error| unusable(&path, error))?;
    }
    restrict_database_files(&path).map_err(|error| unusable(&path, error))?;
    Ok((path, existed))
}

/// Whether the folder is where the agent's is by default: `…/agents/<agent>/agent`.
fn is_default(folder: &Path, agent: &AgentId) -> bool {
    folder.ends_with(Path::new("agents").join(agent.as_str()).join("agent"))
}

/// Refuses what is not a database, or was cut off, before it is opened for writing; an empty file is a new one.
pub(super) fn check_header(path: &Path) -> Result<(), OpenError> {
    let path_buf = || path.to_owned();
    openclaw_sqlite::check_header(path).map_err(|error| match error {
        HeaderError::Io(error) => unusable(path, error),
        HeaderError::NotADatabase => OpenError::NotADatabase { path: path_buf() },
        HeaderError::Truncated => OpenError::Corrupt {
            path: path_buf(),
            source: Arc::new(io::Error::from(io::ErrorKind::UnexpectedEof)),
        },
        // Reasons that a later version of the library may add.
        error => OpenError::Io {
            path: path_buf(),
            source: Arc::new(error),
        },
    })
}

fn unusable(path: &Path, error: io::Error) -> OpenError {
    OpenError::Io {
        path: path.to_owned(),
        source: Arc::new(error),
    }
}
