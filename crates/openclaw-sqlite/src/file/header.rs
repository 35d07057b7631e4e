//! Checks how a file begins before anything opens it for writing.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use super::with_suffix;

/// How every SQLite database begins.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// What is read of a file: the magic bytes and the page size.
const HEADER: usize = MAGIC.len() + 2;
/// How long a write-ahead log without entries is at most.
const LOG_HEADER: u64 = 32;

/// Why a file must not be opened as a database.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderError {
    /// The file cannot be read.
    #[error("cannot read the file")]
    Io(#[from] io::Error),
    /// The file is something else.
    #[error("not an SQLite database")]
    NotADatabase,
    /// The file ends within its first page, or is empty beside a write-ahead log with entries.
    #[error("the file was cut off")]
    Truncated,
}

/// Checks that a file is an SQLite database; an empty file is a new one. A file that was cut off within its first page,
/// or to nothing beside a log with entries, is refused: SQLite would take it as new and throw the log away, and with it
/// what had not been moved into the file.
///
/// # Errors
/// [`HeaderError`]; nothing is changed.
pub fn check_header(path: &Path) -> Result<(), HeaderError> {
    let mut header = Vec::with_capacity(HEADER);
    let limit = u64::try_from(HEADER).unwrap_or(u64::MAX);
    let file = fs::File::open(path)?;
    let length = file.metadata()?.len();
    file.take(limit).read_to_end(&mut header)?;
    let is_truncated = match header.as_slice() {
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
        _ => return Err(HeaderError::NotADatabase),
    };
    if is_truncated {
        return Err(HeaderError::Truncated);
    }
    Ok(())
}
