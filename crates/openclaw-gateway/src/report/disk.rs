//! Whether the disk under the state directory takes changes.

use std::path::{Path, PathBuf};

/// Less room than this is none: a store needs some for its log. In bytes.
#[cfg(unix)]
const LEAST: u64 = 1 << 20;

/// Why nothing can be written to the state directory.
#[derive(Debug, thiserror::Error)]
pub enum DiskProblem {
    /// The disk is full.
    #[error("the disk of {} is full; make room, or what is learned of limits is lost with the gateway", .0.display())]
    Full(PathBuf),
    /// The disk may only be read.
    #[error(
        "{} is on a disk that may only be read; mount it for writing, or what is learned of limits is lost with the gateway",
        .0.display()
    )]
    ReadOnly(PathBuf),
    /// This user may not write there.
    #[error(
        "{} may not be written by this user; give it to the user of the gateway, or what is learned of limits is lost",
        .0.display()
    )]
    Refused(PathBuf),
}

/// Why nothing can be written to `folder`, or to the folder that it would be made in; `None` when it can be, or when
/// the system does not say. Nothing is written.
pub fn problem(folder: &Path) -> Option<DiskProblem> {
    let there = folder.ancestors().find(|path| path.exists())?;
    refusal(there).map(|told| told(folder.to_owned()))
}

/// Why a file, which need not exist, cannot be written; `None` when it can be, or when the system does not say. Nothing is written.
pub fn problem_of(file: &Path) -> Option<DiskProblem> {
    let folder = file.parent().unwrap_or(file);
    problem(folder).or_else(|| refuses(file).then(|| DiskProblem::Refused(file.to_owned())))
}

#[cfg(unix)]
fn refuses(file: &Path) -> bool {
    use rustix::fs::{Access, access};
    file.exists() && access(file, Access::WRITE_OK).is_err()
}

#[cfg(not(unix))]
fn refuses(_: &Path) -> bool {
    false
}

type Refusal = fn(PathBuf) -> DiskProblem;

#[cfg(unix)]
fn refusal(folder: &Path) -> Option<Refusal> {
    use rustix::fs::{Access, StatVfsMountFlags, access, statvfs};
    let volume = statvfs(folder).ok()?;
    judged(
        volume.f_flag.contains(StatVfsMountFlags::RDONLY),
        volume.f_bavail.saturating_mul(volume.f_frsize),
        access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok(),
    )
}

/// What the system says of a folder, with the room in bytes: the cause that explains the others comes first.
#[cfg(unix)]
fn judged(is_read_only: bool, room: u64, may_write: bool) -> Option<Refusal> {
    if is_read_only {
        return Some(DiskProblem::ReadOnly);
    }
    if room < LEAST {
        return Some(DiskProblem::Full);
    }
    (!may_write).then_some(DiskProblem::Refused as Refusal)
}

#[cfg(not(unix))]
fn refusal(_: &Path) -> Option<Refusal> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_cause_that_explains_the_others_is_told() {
        for (is_read_only, room, may_write, told) in [
            (false, LEAST, true, None),
            (false, LEAST - 1, true, Some("is full")),
            (false, 0, false, Some("is full")),
            (true, 0, false, Some("may only be read")),
            (false, u64::MAX, false, Some("by this user")),
        ] {
            let trouble = judged(is_read_only, room, may_write).map(|told| told("/state".into()).to_string());
            match (&trouble, told) {
                (Some(said), Some(told)) => assert!(said.contains(told), "{said}"),
                (said, told) => assert_eq!(said.as_deref(), told),
            }
        }
    }
}
