//! Files and folders that nobody else may read (auth-store.md 1.4).

pub(crate) use imp::{close_file, close_folder, create_file, create_folder, write_new};

#[cfg(unix)]
mod imp {
    use std::fs::{self, DirBuilder, OpenOptions, Permissions};
    use std::io::{self, Write};
    use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
    use std::path::Path;

    const FOLDER: u32 = 0o700;
    const FILE: u32 = 0o600;
    const MODE_BITS: u32 = 0o777;

    /// Makes a folder and what is missing above it.
    pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(FOLDER).create(path)
    }

    /// Takes a folder away from everybody else.
    pub(crate) fn close_folder(path: &Path) -> io::Result<()> {
        close(path, FOLDER)
    }

    /// Makes an empty file; another process may be first, and both mean the same file.
    pub(crate) fn create_file(path: &Path) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.create(true).append(true).mode(FILE).open(path).map(drop)
    }

    /// Takes a file away from everybody else.
    pub(crate) fn close_file(path: &Path) -> io::Result<()> {
        close(path, FILE)
    }

    /// Writes a file that must not exist yet, and waits until the disk has it.
    pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = OpenOptions::new()
            .create_new(true)
            .write(true)
            .mode(FILE)
            .open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    fn close(path: &Path, mode: u32) -> io::Result<()> {
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

    pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    pub(crate) fn close_folder(path: &Path) -> io::Result<()> {
        fs::metadata(path).map(drop)
    }

    pub(crate) fn create_file(path: &Path) -> io::Result<()> {
        OpenOptions::new().create(true).append(true).open(path).map(drop)
    }

    pub(crate) fn close_file(path: &Path) -> io::Result<()> {
        fs::metadata(path).map(drop)
    }

    pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = OpenOptions::new().create_new(true).write(true).open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    }
}
