//! On what kind of volume the file lies (D3): the write-ahead log needs memory that all its users share.

use std::path::{Path, PathBuf};

/// How far a volume can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Volume {
    /// A disk of this machine, or nobody knows.
    Local,
    /// Shared over a network: no write-ahead log.
    Network,
    /// Shared in a way that does not even lock.
    Unsafe,
}

/// Kinds of volumes by the name the system gives them.
const KINDS: &[(&str, Volume)] = &[
    ("cifs", Volume::Network),
    ("fuse.sshfs", Volume::Unsafe),
    ("nfs", Volume::Network),
    ("nfs4", Volume::Network),
    ("smb3", Volume::Network),
    ("smbfs", Volume::Network),
];

/// Where the system lists what is mounted.
const MOUNTS: &str = "/proc/self/mountinfo";

impl Volume {
    /// The volume of a file or folder that exists.
    pub(super) fn of(path: &Path) -> Self {
        let mounts = std::fs::read_to_string(MOUNTS).unwrap_or_default();
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        Self::among(&mounts, &path)
    }

    /// The kind of the innermost mount around `path`; of two at the same place the later one hides the other.
    fn among(mounts: &str, path: &Path) -> Self {
        let around = mounts
            .lines()
            .filter_map(mount)
            .filter(|(place, _)| path.starts_with(place));
        let innermost = around.max_by_key(|(place, _)| place.components().count());
        let kind = innermost.and_then(|(_, kind)| KINDS.iter().find(|(name, _)| *name == kind));
        kind.map_or(Self::Local, |(_, volume)| *volume)
    }

    /// What SQLite keeps beside the file while it is written.
    pub(super) fn journal(self) -> &'static str {
        match self {
            Self::Local => "wal",
            Self::Network | Self::Unsafe => "delete",
        }
    }
}

/// Where a line says that something is mounted, and of which kind that is.
fn mount(line: &str) -> Option<(PathBuf, &str)> {
    let (mounted, source) = line.split_once(" - ")?;
    let place = mounted.split(' ').nth(4)?;
    // The system writes the characters that separate fields as octal numbers.
    let place = place
        .replace("\\040", " ")
        .replace("\\011", "\t")
        .replace("\\134", "\\");
    Some((PathBuf::from(place), source.split(' ').next()?))
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
    fn d3_kinds_of_volumes() {
        for (path, volume) in [
            ("/home/me", Volume::Local),
            ("/net/me", Volume::Network),
            ("/network", Volume::Local),
            ("/net/local/me", Volume::Local),
            ("/my files/me", Volume::Unsafe),
            ("/win/me", Volume::Network),
        ] {
            assert_eq!(Volume::among(LINES, Path::new(path)), volume, "{path}");
        }
        assert_eq!(Volume::among("", Path::new("/home/me")), Volume::Local);
    }
}
