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
/// What is read of a file: how it begins, and the size of its pages.
const HEADER: usize = MAGIC.len() + 2;
/// How long a log without entries is at most.
const LOG_HEADER: u64 = 32;

/// Makes the folder (L20) and an empty private file (L21) where they are missing; true when the file was there.
///
/// A folder that was there and is not the default one of the agent keeps its mode.
pub(super) fn prepare(folder: &Path, agent: &AgentId) -> Result<(PathBuf, bool), OpenError> {
    if folder.is_file() {
        return Err(OpenError::NotAFolder {
            path: folder.to_owned(),
        });
    }
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

/// Refuses what is no database before anything opens it for writing; an empty file is a new one. So would be a file that
/// was cut within its first page, or to nothing beside a log with entries: SQLite would throw the log away, and with it
/// what had not been moved into the file.
pub(super) fn check_header(path: &Path) -> Result<(), OpenError> {
    let mut header = Vec::with_capacity(HEADER);
    let limit = u64::try_from(HEADER).unwrap_or(u64::MAX);
    let length = fs::File::open(path)
        .and_then(|file| {
            let length = file.metadata()?.len();
            file.take(limit).read_to_end(&mut header)?;
            Ok(length)
        })
        .map_err(|error| unusable(path, error))?;
    let is_cut = match header.as_slice() {
        [] => fs::metadata(with_suffix(path, "-wal")).is_ok_and(|log| log.len() > LOG_HEADER),
        [magic @ .., high, low] if magic == MAGIC => {
            // The largest page does not fit into the two bytes and is written as 1.
            let page = match u16::from_be_bytes([*high, *low]) {
                1 => 1 << 16,
                page => u64::from(page),
            };
            length < page
        }
        _ if header.starts_with(MAGIC) => true,
        _ => {
            return Err(OpenError::NotADatabase {
                path: path.to_owned(),
            });
        }
    };
    if is_cut {
        return Err(OpenError::Corrupt {
            path: path.to_owned(),
            source: Arc::new(io::Error::from(io::ErrorKind::UnexpectedEof)),
        });
    }
    Ok(())
}

fn unusable(path: &Path, error: io::Error) -> OpenError {
    OpenError::Io {
        path: path.to_owned(),
        source: Arc::new(error),
    }
}
