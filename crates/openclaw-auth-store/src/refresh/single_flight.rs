//! Refreshes of one login by one process: one after another, and a failure is that of all who waited for it (O4).

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Mutex;

use super::error::RefreshError;
use crate::Oauth;

/// The queue for one login.
#[derive(Default)]
pub(super) struct Flights {
    /// Whose turn it is, and how the latest refresh failed.
    pub(super) turn: Mutex<Option<Failure>>,
    failures: AtomicU64,
}

/// A refresh that failed.
pub(super) struct Failure {
    /// Which one it was.
    number: u64,
    /// The login as it is stored since.
    stored: Option<Oauth>,
    error: RefreshError,
}

impl Flights {
    /// How many failed so far; asked before waiting for one's turn.
    pub(super) fn failures(&self) -> u64 {
        self.failures.load(Ordering::SeqCst)
    }

    /// Tells those who wait what came of a refresh.
    pub(super) fn note<T>(
        &self,
        turn: &mut Option<Failure>,
        stored: Option<Oauth>,
        outcome: &Result<T, RefreshError>,
    ) {
        let error = match outcome {
            Err(error @ (RefreshError::Contention { .. } | RefreshError::Failed { .. })) => error.clone(),
            // Another agent's store may be written, and another login refreshed.
            Err(RefreshError::Lock { .. } | RefreshError::NotPersisted { .. } | RefreshError::Store(_))
            | Ok(_) => {
                *turn = None;
                return;
            }
        };
        let number = self.failures.fetch_add(1, Ordering::SeqCst).saturating_add(1);
        *turn = Some(Failure {
            number,
            stored,
            error,
        });
    }
}

impl Failure {
    /// The failure for somebody who waits since there were so many, if it is that of the same login.
    pub(super) fn shared(&self, since: u64, stored: Option<&Oauth>) -> Option<RefreshError> {
        (self.number > since && self.stored.as_ref() == stored).then(|| self.error.clone())
    }
}
