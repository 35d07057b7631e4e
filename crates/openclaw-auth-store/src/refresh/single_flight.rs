//! Serialises the refreshes of a login within a process; a failure is shared by all tasks that waited for it (O4).

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Mutex;

use super::error::RefreshError;
use crate::Oauth;

/// The queue for one login.
#[derive(Default)]
pub(super) struct SingleFlight {
    /// The lock of the running refresh, and the latest failure.
    pub(super) turn: Mutex<Option<Failure>>,
    failures: AtomicU64,
}

/// A refresh that failed.
pub(super) struct Failure {
    /// Its number.
    number: u64,
    /// The login as it was stored then.
    stored: Option<Oauth>,
    error: RefreshError,
}

impl SingleFlight {
    /// How many refreshes failed so far; read before waiting for the lock.
    pub(super) fn failures(&self) -> u64 {
        self.failures.load(Ordering::SeqCst)
    }

    /// Shares the outcome of a refresh with the waiting tasks.
    pub(super) fn note<T>(
        &self,
        turn: &mut Option<Failure>,
        stored: Option<Oauth>,
        outcome: &Result<T, RefreshError>,
    ) {
        let error = match outcome {
            Err(error @ (RefreshError::Contention { .. } | RefreshError::Failed { .. })) => error.clone(),
            // Failures of another store or of another login are not shared.
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
    /// The failure for a task that waits since there were that many, if it is of the same login.
    pub(super) fn shared(&self, since: u64, stored: Option<&Oauth>) -> Option<RefreshError> {
        (self.number > since && self.stored.as_ref() == stored).then(|| self.error.clone())
    }
}
