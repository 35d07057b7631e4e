//! A read connection that follows its path when the file at it is replaced.

use std::path::PathBuf;

use rusqlite::Connection;

use super::{BusyWait, open_query_only};
use crate::file::FileId;

/// A connection that refuses to write, to the file that is at a path now. It is kept for as long as the file there is the
/// same one, and opened again when another file has taken its place.
#[derive(Debug)]
pub struct FollowingReader {
    path: PathBuf,
    wait: BusyWait,
    open: Option<(FileId, Connection)>,
}

impl FollowingReader {
    /// A reader of the file at `path`. Opens nothing yet.
    pub fn new(path: PathBuf, wait: BusyWait) -> Self {
        Self {
            path,
            wait,
            open: None,
        }
    }

    /// The connection to the file that is there now, and whether it was opened by this call; `None` when there is no
    /// file.
    ///
    /// # Errors
    /// What SQLite says about opening it.
    pub fn connection(&mut self) -> rusqlite::Result<Option<(&Connection, bool)>> {
        let id = FileId::of(&self.path);
        let is_new = self.open.as_ref().is_none_or(|(open, _)| *open != id);
        if is_new {
            self.open = None;
            if id == FileId::MISSING {
                return Ok(None);
            }
        }
        let (_, connection) = match self.open.take() {
            Some(open) => self.open.insert(open),
            None => self.open.insert((id, open_query_only(&self.path, self.wait)?)),
        };
        Ok(Some((connection, is_new)))
    }
}
