//! Which file a path leads to: a copy that is put back takes another one's place, and a file can be removed.

use std::path::Path;

/// The file that stands at a path. Where files have no numbers, one is like the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Empty,
    File { device: u64, number: u64 },
}

impl Place {
    #[cfg(unix)]
    pub(super) fn of(path: &Path) -> Self {
        use std::os::unix::fs::MetadataExt;
        match std::fs::metadata(path) {
            Ok(file) => Self::File {
                device: file.dev(),
                number: file.ino(),
            },
            Err(_) => Self::Empty,
        }
    }

    #[cfg(not(unix))]
    pub(super) fn of(path: &Path) -> Self {
        if path.exists() {
            Self::File { device: 0, number: 0 }
        } else {
            Self::Empty
        }
    }
}
