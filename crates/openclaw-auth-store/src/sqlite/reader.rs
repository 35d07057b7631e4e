//! Reads the file that is there now, over a connection that is kept for as long as it is the same one.

use std::path::PathBuf;

use rusqlite::Connection;

use super::connect::{self, Wait};
use super::fault::Fault;
use super::place::Place;

/// A connection that cannot write, and the file it is to.
pub(super) struct Reader {
    path: PathBuf,
    wait: Wait,
    open: Option<(Place, Connection)>,
}

impl Reader {
    /// Opens nothing yet.
    pub(super) fn new(path: PathBuf, wait: Wait) -> Self {
        Self {
            path,
            wait,
            open: None,
        }
    }

    /// The connection to the file that is there now, and whether it is a new one.
    pub(super) fn connection(&mut self) -> Result<(&Connection, bool), Fault> {
        let place = Place::of(&self.path);
        let is_new = self.open.as_ref().is_none_or(|(known, _)| *known != place);
        if is_new {
            self.open = None;
            if place == Place::Empty {
                return Err(Fault::Gone);
            }
        }
        let (_, connection) = match self.open.take() {
            Some(open) => self.open.insert(open),
            None => self.open.insert((place, connect::reader(&self.path, self.wait)?)),
        };
        Ok((connection, is_new))
    }
}
