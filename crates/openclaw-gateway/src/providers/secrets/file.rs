//! Reads a file of secrets, within a size limit.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use openclaw_config::FileConfig;

use super::permissions;

/// The text of the file.
///
/// # Errors
/// When it cannot be read, is larger than allowed, or others may read it, too.
pub(super) fn read(path: &Path, config: &FileConfig) -> io::Result<String> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    if !config.allow_insecure_path && permissions::lets_others_in(&metadata) {
        return Err(io::Error::other(
            "others may read or change it; run `chmod 600` on it, or set allowInsecurePath",
        ));
    }
    let most = config.max_bytes.get();
    let mut text = String::new();
    file.take(most.saturating_add(1)).read_to_string(&mut text)?;
    if u64::try_from(text.len()).is_ok_and(|length| length > most) {
        return Err(io::Error::other(format!(
            "it is larger than {most} bytes (maxBytes)"
        )));
    }
    Ok(text)
}
