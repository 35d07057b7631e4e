//! A new file that only this user may read.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

/// Writes `text` to a file that must not exist yet, down to the disk.
///
/// # Errors
/// When there is such a file, or it cannot be written.
pub(crate) fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
