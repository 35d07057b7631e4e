//! Which file a path leads to: a copy that is put back takes another one's place, and a file can be removed.

use std::path::Path;

/// The file that stands at a path, to notice that another one does. Where files have no numbers, one is like the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place(Option<(u64, u64)>);

impl Place {
    /// What is at `path` now, be it nothing. Asks the system once.
    #[cfg(unix)]
    #[must_use]
    pub fn of(path: &Path) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self(std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino())))
    }

    /// What is at `path` now, be it nothing. Asks the system once.
    #[cfg(not(unix))]
    #[must_use]
    pub fn of(path: &Path) -> Self {
        Self(path.exists().then_some((0, 0)))
    }
}
