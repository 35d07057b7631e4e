//! Tells whether the permissions of a file let other users of this machine read or change it.

use std::fs::Metadata;

/// The bits of group and others for reading, writing and running.
const ANY: u32 = 0o077;
/// Those for writing.
const WRITE: u32 = 0o022;

/// Whether others may read or change the file.
pub(super) fn lets_others_in(metadata: &Metadata) -> bool {
    mode(metadata) & ANY != 0
}

/// Whether others may change the file.
pub(super) fn lets_others_change(metadata: &Metadata) -> bool {
    mode(metadata) & WRITE != 0
}

#[cfg(unix)]
fn mode(metadata: &Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions())
}

#[cfg(not(unix))]
fn mode(_metadata: &Metadata) -> u32 {
    0
}
