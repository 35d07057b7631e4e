//! Snapshot files that wait for a decision: where they are, what they change, accepting and rejecting them.

pub(crate) mod bless;

use std::io;
use std::path::{Path, PathBuf};

use crate::diff;

/// A `*.snap.new` file beside the snapshot it would replace.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Pending {
    new: PathBuf,
}

impl Pending {
    /// The snapshot that accepting writes.
    pub(crate) fn target(&self) -> PathBuf {
        self.new.with_extension("")
    }

    /// What accepting would change; a snapshot that does not exist yet is all additions.
    pub(crate) fn difference(&self) -> io::Result<String> {
        let old = match std::fs::read_to_string(self.target()) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        Ok(diff::unified(&old, &self.accepted_text()?))
    }

    /// Replaces the snapshot in one step.
    pub(crate) fn accept(&self) -> io::Result<()> {
        std::fs::write(&self.new, self.accepted_text()?)?;
        std::fs::rename(&self.new, self.target())
    }

    /// Removes the waiting file and leaves the snapshot as it was.
    pub(crate) fn reject(&self) -> io::Result<()> {
        std::fs::remove_file(&self.new)
    }

    /// The waiting text without the line number of the assertion, which would change with every edit above it.
    fn accepted_text(&self) -> io::Result<String> {
        let text = std::fs::read_to_string(&self.new)?;
        let Some((header, body)) = text
            .strip_prefix("---\n")
            .and_then(|rest| rest.split_once("\n---\n"))
        else {
            return Ok(text);
        };
        let header: Vec<_> = header
            .lines()
            .filter(|line| !line.starts_with("assertion_line:"))
            .collect();
        Ok(format!("---\n{}\n---\n{body}", header.join("\n")))
    }
}

/// Every waiting snapshot below `root`, sorted by path; build output and hidden directories are left out.
pub(crate) fn pending(root: &Path) -> io::Result<Vec<Pending>> {
    let mut found = Vec::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in std::fs::read_dir(&directory)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if entry.file_type()?.is_dir() {
                if !name.starts_with('.') && !name.starts_with("target") {
                    waiting.push(entry.path());
                }
            } else if name.ends_with(".snap.new") {
                found.push(Pending { new: entry.path() });
            }
        }
    }
    found.sort_by(|a, b| a.new.cmp(&b.new));
    Ok(found)
}

#[cfg(test)]
mod tests;
