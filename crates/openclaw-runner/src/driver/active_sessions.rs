//! The sessions of active runs, and the transcript that each run writes to (S1).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use openclaw_ids::{SessionId, SessionKey};
use openclaw_session::SessionRotation;

use crate::request::RunSession;

/// The session of one active run.
#[derive(Debug)]
pub(crate) struct ActiveSession {
    pub(crate) session: RunSession,
    /// The transcript it writes to; none once its session started over.
    transcript: Mutex<Option<SessionId>>,
    among: Arc<ActiveSessions>,
}

impl ActiveSession {
    /// The transcript that the run writes to now.
    pub(crate) fn transcript(&self) -> Option<SessionId> {
        // An id is replaced whole, so that a panic elsewhere leaves nothing half done.
        self.transcript
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn adopt(&self, rotated: &SessionRotation) {
        let mut transcript = self.transcript.lock().unwrap_or_else(PoisonError::into_inner);
        *transcript = transcript.take().and_then(|current| rotated.adopt(&current));
    }
}

impl Drop for ActiveSession {
    fn drop(&mut self) {
        self.among.forget(&self.session.key);
    }
}

/// The active runs of a process by their session.
#[derive(Debug, Default)]
pub(crate) struct ActiveSessions(Mutex<HashMap<SessionKey, Vec<Weak<ActiveSession>>>>);

impl ActiveSessions {
    /// A run of this session begins.
    pub(crate) fn enter(self: &Arc<Self>, session: RunSession) -> Arc<ActiveSession> {
        let key = session.key.clone();
        let busy = Arc::new(ActiveSession {
            transcript: Mutex::new(Some(session.id.clone())),
            session,
            among: Arc::clone(self),
        });
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        runs.entry(key).or_default().push(Arc::downgrade(&busy));
        busy
    }

    /// The session points to another transcript: its active runs follow a compaction, and write no more after anything
    /// else (S-13 hazards 5 and 7).
    pub(crate) fn rotated(&self, key: &SessionKey, rotated: &SessionRotation) {
        let busy: Vec<_> = {
            let runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let of_session = runs.get(key).into_iter().flatten();
            of_session.filter_map(Weak::upgrade).collect()
        };
        // Outside the lock: the last owner of a run takes it again.
        for run in busy {
            run.adopt(rotated);
        }
    }

    fn forget(&self, key: &SessionKey) {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(of_session) = runs.get_mut(key) {
            of_session.retain(|run| run.strong_count() > 0);
            if of_session.is_empty() {
                runs.remove(key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use openclaw_session::{RotationCause, SelectionSnapshot, TurnKind};

    use super::*;
    use crate::request::PersistPolicy;

    fn id(text: &str) -> SessionId {
        text.parse().unwrap()
    }

    fn session(key: &str) -> RunSession {
        RunSession {
            sticky: std::collections::BTreeMap::new(),
            key: key.parse().unwrap(),
            id: id("one"),
            kind: TurnKind::Normal,
            read: SelectionSnapshot::default(),
            persist: PersistPolicy::BeforeAttempt,
            probe: None,
        }
    }

    fn rotated(old: &str, new: &str, cause: RotationCause) -> SessionRotation {
        SessionRotation {
            old: id(old),
            new: id(new),
            cause,
        }
    }

    #[test]
    fn s1_runs_follow_compactions_of_their_own_session_and_end_their_writes_after_a_reset() {
        let among = Arc::new(ActiveSessions::default());
        let (busy, other) = (
            among.enter(session("agent:main:a")),
            among.enter(session("agent:main:b")),
        );
        let key = busy.session.key.clone();
        among.rotated(&key, &rotated("one", "two", RotationCause::Compaction));
        assert_eq!(
            (busy.transcript(), other.transcript()),
            (Some(id("two")), Some(id("one")))
        );
        // What concerns an older transcript is history.
        among.rotated(&key, &rotated("one", "three", RotationCause::Reset));
        assert_eq!(busy.transcript(), Some(id("two")));
        among.rotated(&key, &rotated("two", "three", RotationCause::Expiry));
        assert_eq!(busy.transcript(), None);
        among.rotated(&key, &rotated("three", "four", RotationCause::Compaction));
        assert_eq!(busy.transcript(), None, "what ended stays ended");
    }

    #[test]
    fn a_run_that_is_over_leaves_nothing_behind() {
        let among = Arc::new(ActiveSessions::default());
        let (one, two) = (
            among.enter(session("agent:main:a")),
            among.enter(session("agent:main:a")),
        );
        drop(one);
        assert_eq!(among.0.lock().unwrap().len(), 1);
        drop(two);
        assert!(among.0.lock().unwrap().is_empty());
    }
}
