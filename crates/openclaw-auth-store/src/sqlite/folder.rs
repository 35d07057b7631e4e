//! The agent's folder and who may read what is in it (auth-store.md 1.4).

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openclaw_ids::AgentId;

use crate::file::with_suffix;
use crate::{OpenError, private};

/// The store's name in the folder.
pub(super) const FILE_NAME: &str = "openclaw-agent.sqlite";
/// What SQLite keeps beside it.
const SIDECARS: &[&str] = &["-wal", "-shm", "-journal"];
/// How every database begins.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Makes the folder (L20) and an empty private file (L21) where they are missing; true when the file was there.
///
/// A folder that was there and is not the default one of the agent keeps its mode.
pub(super) fn prepare(folder: &Path, agent: &AgentId) -> Result<(PathBuf, bool), OpenError> {
    let existed = folder.is_dir();
    private::create_folder(folder).map_err(|error| unusable(folder, error))?;
    if !existed || is_default(folder, agent) {
        private::close_folder(folder).map_err(|error| unusable(folder, error))?;
    }
    let path = folder.join(FILE_NAME);
    let existed = path.exists();
    if existed {
        check_header(&path)?;
    } else {
        private::create_file(&path).map_err(|error| unusable(&path, error))?;
    }
    close_files(&path).map_err(|error| unusable(&path, error))?;
    Ok((path, existed))
}

/// Takes the file and what is beside it away from everybody else (L21).
pub(super) fn close_files(path: &Path) -> io::Result<()> {
    private::close_file(path)?;
    for suffix in SIDECARS {
        match private::close_file(&with_suffix(path, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

/// Whether the folder is where the agent's is by default: `…/agents/<agent>/agent`.
fn is_default(folder: &Path, agent: &AgentId) -> bool {
    folder.ends_with(Path::new("agents").join(agent.as_str()).join("agent"))
}

/// Refuses what is no database before anything opens it for writing; an empty file is a new one.
pub(super) fn check_header(path: &Path) -> Result<(), OpenError> {
    let mut header = Vec::with_capacity(MAGIC.len());
    let limit = u64::try_from(MAGIC.len()).unwrap_or(u64::MAX);
    fs::File::open(path)
        .and_then(|file| file.take(limit).read_to_end(&mut header))
        .map_err(|error| unusable(path, error))?;
    if header.is_empty() || header == MAGIC {
        Ok(())
    } else {
        Err(OpenError::NotADatabase {
            path: path.to_owned(),
        })
    }
}

fn unusable(path: &Path, error: io::Error) -> OpenError {
    OpenError::Io {
        path: path.to_owned(),
        source: Arc::new(error),
    }
}
