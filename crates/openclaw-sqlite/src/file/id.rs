//! The identity of the file at a path: a restored copy takes another file's place, and a file can be removed.

use std::path::{Path, PathBuf};

/// Identifies the file at a path by device and inode, so that a replaced or removed file is noticed. On systems without
/// such numbers every existing file has the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileId(Option<(u64, u64)>);

impl FileId {
    /// The id of a path without a file.
    pub const MISSING: Self = Self(None);

    /// The id of the file at `path` now, or [`MISSING`](Self::MISSING). One system call.
    #[cfg(unix)]
    #[must_use]
    pub fn of(path: &Path) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self(std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino())))
    }

    /// The id of the file at `path` now, or [`MISSING`](Self::MISSING). One system call.
    #[cfg(not(unix))]
    #[must_use]
    pub fn of(path: &Path) -> Self {
        Self(path.exists().then_some((0, 0)))
    }
}

/// Remembers which file a connection is to, to notice when another one has taken its place.
#[derive(Debug, Clone)]
pub struct FileWatch {
    path: PathBuf,
    id: FileId,
}

impl FileWatch {
    /// Watches `path`, from the file that is there now.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            id: FileId::of(path),
        }
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file that was there at the last [`update`](Self::update).
    pub fn id(&self) -> FileId {
        self.id
    }

    /// Whether another file, or none, is at the path than at the last [`update`](Self::update). One system call.
    pub fn is_replaced(&self) -> bool {
        FileId::of(&self.path) != self.id
    }

    /// Remembers the file that is there now, and returns whether it is another one than before. One system call.
    pub fn update(&mut self) -> bool {
        let id = FileId::of(&self.path);
        std::mem::replace(&mut self.id, id) != id
    }
}

#[cfg(test)]
mod tests;
