//! Which kind of file system a file is on: the write-ahead log needs memory that all its users share (D3).

use std::path::{Path, PathBuf};

use crate::connection::JournalMode;

/// What the file system of a database can be relied on for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilesystemKind {
    /// A disk of this machine, or unknown.
    Local,
    /// Shared over a network: locks work, a write-ahead log does not.
    Network,
    /// Shared in a way that keeps no locks; two processes cannot share a database there.
    WithoutLocks,
}

/// Kinds of file systems by the name the system gives them.
const KINDS: &[(&str, FilesystemKind)] = &[
    ("cifs", FilesystemKind::Network),
    ("fuse.sshfs", FilesystemKind::WithoutLocks),
    ("nfs", FilesystemKind::Network),
    ("nfs4", FilesystemKind::Network),
    ("smb3", FilesystemKind::Network),
    ("smbfs", FilesystemKind::Network),
];

/// Where the system lists what is mounted.
const MOUNTS: &str = "/proc/self/mountinfo";

impl FilesystemKind {
    /// The kind of the file system that an existing file or folder is on.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        let mounts = std::fs::read_to_string(MOUNTS).unwrap_or_default();
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        Self::among(&mounts, &path)
    }

    /// The kind of the innermost mount around `path`; of two at the same path the later one hides the other.
    fn among(mounts: &str, path: &Path) -> Self {
        let around = mounts
            .lines()
            .filter_map(mount)
            .filter(|(point, _)| path.starts_with(point));
        let innermost = around.max_by_key(|(point, _)| point.components().count());
        let kind = innermost.and_then(|(_, kind)| KINDS.iter().find(|(name, _)| *name == kind));
        kind.map_or(Self::Local, |(_, kind)| *kind)
    }

    /// The journal mode that works there.
    #[must_use]
    pub fn journal_mode(self) -> JournalMode {
        match self {
            Self::Local => JournalMode::Wal,
            Self::Network | Self::WithoutLocks => JournalMode::Delete,
        }
    }
}

/// The mount point and the kind of the file system of a line.
fn mount(line: &str) -> Option<(PathBuf, &str)> {
    let (mounted, source) = line.split_once(" - ")?;
    let point = mounted.split(' ').nth(4)?;
    // The system writes the characters that separate fields as octal numbers.
    let point = point
        .replace("\\040", " ")
        .replace("\\011", "\t")
        .replace("\\134", "\\");
    Some((PathBuf::from(point), source.split(' ').next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = r"22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / /net rw - nfs4 server:/export rw
31 30 8:2 / /net/local rw - xfs /dev/sdb1 rw
32 22 0:41 / /my\040files rw - fuse.sshfs me@host: rw
33 22 0:42 / /win rw - cifs //host/share rw
broken line";

    #[test]
    fn d3_kinds_of_file_systems() {
        for (path, kind) in [
            ("/home/me", FilesystemKind::Local),
            ("/net/me", FilesystemKind::Network),
            ("/network", FilesystemKind::Local),
            ("/net/local/me", FilesystemKind::Local),
            ("/my files/me", FilesystemKind::WithoutLocks),
            ("/win/me", FilesystemKind::Network),
        ] {
            assert_eq!(FilesystemKind::among(LINES, Path::new(path)), kind, "{path}");
        }
        assert_eq!(
            FilesystemKind::among("", Path::new("/home/me")),
            FilesystemKind::Local
        );
    }
}
