//! Ids of requests, runs and new sessions, unique across processes.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use openclaw_ids::SessionId;

/// Hands out ids that no other process hands out: a random part per process and a counter.
#[derive(Debug)]
pub(crate) struct RequestIds {
    process: u64,
    next: AtomicU64,
}

impl RequestIds {
    /// Draws this process's random part.
    pub(crate) fn new() -> Self {
        Self {
            process: RandomState::new().hash_one("process"),
            next: AtomicU64::new(1),
        }
    }

    /// The next id, for example `oc-9f0c61d2a4b81e37-1`.
    pub(crate) fn next_id(&self) -> String {
        format!(
            "oc-{:016x}-{}",
            self.process,
            self.next.fetch_add(1, Ordering::Relaxed)
        )
    }

    /// The next id, for a session that begins.
    #[expect(clippy::expect_used, reason = "only an empty text is no session id")]
    pub(crate) fn next_session(&self) -> SessionId {
        SessionId::try_new(&self.next_id()).expect("an id is never empty")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ_within_and_between_processes() {
        let (one, other) = (RequestIds::new(), RequestIds::new());
        assert_ne!(one.next_id(), one.next_id());
        assert_ne!(one.process, other.process);
    }
}
