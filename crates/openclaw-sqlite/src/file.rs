//! The file at a path: its identity, its header, and who may read it.

mod header;
mod id;
mod private;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use header::{HeaderError, check_header};
pub use id::{FileId, FileWatch};
pub use private::{
    create_private_file, create_private_folder, restrict_database_files, restrict_file, restrict_folder,
    write_new_private,
};

/// The bytes of a file; `None` when there is none.
///
/// # Errors
/// When there is a file and it cannot be read.
pub fn read_if_exists(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The path with a suffix after its file name, as of the files that SQLite keeps beside a database.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
