//! Files and folders that only their owner may read (modes 0600 and 0700 where the system has modes).

use std::io;
use std::path::Path;

use super::with_suffix;

pub use imp::{
    create_private_file, create_private_folder, restrict_file, restrict_folder, write_new_private,
};

/// What SQLite keeps beside a database.
const SIDECARS: &[&str] = &["-wal", "-shm", "-journal"];

/// Takes the read and write permissions of a database, and of the files that SQLite keeps beside it, away from all users
/// but the owner.
///
/// # Errors
/// What the system says. Missing side files are none.
pub fn restrict_database_files(path: &Path) -> io::Result<()> {
    restrict_file(path)?;
    for suffix in SIDECARS {
        match restrict_file(&with_suffix(path, suffix)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

#[cfg(unix)]
mod imp {
    use std::fs::{self, DirBuilder, OpenOptions, Permissions};
    use std::io::{self, Write};
    use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
    use std::path::Path;

    const FOLDER: u32 = 0o700;
    const FILE: u32 = 0o600;
    const MODE_BITS: u32 = 0o777;

    /// Creates a folder and those missing above it; existing ones keep their mode.
    ///
    /// # Errors
    /// What the system says.
    pub fn create_private_folder(path: &Path) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(FOLDER).create(path)
    }

    /// Takes the permissions of a folder away from all users but the owner.
    ///
    /// # Errors
    /// What the system says.
    pub fn restrict_folder(path: &Path) -> io::Result<()> {
        restrict(path, FOLDER)
    }

    /// Creates an empty file unless there is one; an existing one keeps its content and mode. It may be created by another
    /// process at the same time.
    ///
    /// # Errors
    /// What the system says, also when an existing file cannot be written.
    pub fn create_private_file(path: &Path) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.create(true).append(true).mode(FILE).open(path).map(drop)
    }

    /// Takes the permissions of a file away from all users but the owner.
    ///
    /// # Errors
    /// What the system says.
    pub fn restrict_file(path: &Path) -> io::Result<()> {
        restrict(path, FILE)
    }

    /// Writes a file that must not exist yet, and waits until the disk has it.
    ///
    /// # Errors
    /// What the system says.
    pub fn write_new_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = OpenOptions::new()
            .create_new(true)
            .write(true)
            .mode(FILE)
            .open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    fn restrict(path: &Path, mode: u32) -> io::Result<()> {
        if fs::metadata(path)?.permissions().mode() & MODE_BITS == mode {
            return Ok(());
        }
        fs::set_permissions(path, Permissions::from_mode(mode))
    }
}

#[cfg(not(unix))]
mod imp {
    use std::fs::{self, OpenOptions};
    use std::io::{self, Write};
    use std::path::Path;

    /// Creates a folder and those missing above it.
    ///
    /// # Errors
    /// What the system says.
    pub fn create_private_folder(path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    /// Checks that the folder exists; there are no modes on this system.
    ///
    /// # Errors
    /// What the system says.
    pub fn restrict_folder(path: &Path) -> io::Result<()> {
        fs::metadata(path).map(drop)
    }

    /// Creates an empty file unless there is one.
    ///
    /// # Errors
    /// What the system says.
    pub fn create_private_file(path: &Path) -> io::Result<()> {
        OpenOptions::new().create(true).append(true).open(path).map(drop)
    }

    /// Checks that the file exists; there are no modes on this system.
    ///
    /// # Errors
    /// What the system says.
    pub fn restrict_file(path: &Path) -> io::Result<()> {
        fs::metadata(path).map(drop)
    }

    /// Writes a file that must not exist yet, and waits until the disk has it.
    ///
    /// # Errors
    /// What the system says.
    pub fn write_new_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = OpenOptions::new().create_new(true).write(true).open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    }
}
