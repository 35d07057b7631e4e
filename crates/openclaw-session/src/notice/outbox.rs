//! Hands every stored notice out once per process (S4).

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use openclaw_ids::SessionKey;

use crate::entry::{Notice, SessionEntry};

/// Hands every notice out once per process (S4).
///
/// A turn takes what its entry still holds, hands it over, acknowledges it in the store and then releases it here. A
/// process that died in between left the notice in the entry, so the next one offers it again under the same id.
#[derive(Debug, Default)]
pub struct NoticeOutbox {
    taken: Mutex<HashSet<(SessionKey, String)>>,
}

impl NoticeOutbox {
    /// The pending notice of the session's entry, unless this process took it before.
    pub fn take(&self, key: &SessionKey, entry: &SessionEntry) -> Option<Notice> {
        let notice = entry.pending_notice()?;
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = taken.insert((key.clone(), notice.id.clone()));
        is_new.then(|| notice.clone())
    }

    /// Forgets a notice whose acknowledgement is stored, so that the outbox stays small.
    pub fn release(&self, key: &SessionKey, id: &str) {
        self.taken
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&(key.clone(), id.to_owned()));
    }
}
