//! The traits of an engine, and the engines that need no database.

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
pub(crate) mod inheritance;
mod memory;

use std::future::Future;
use std::sync::Arc;

use jiff::Timestamp;
use openclaw_ids::{ProfileId, ProviderId};

use crate::{
    AuthSnapshot, ChangeOutcome, Credential, LoginChange, Oauth, RefreshLease, StoreError, UsageChange,
};

pub use inheritance::{InheritingAuthStore, ProfileOwner, inherit, profile_owner};
pub use memory::MemoryAuthStore;

/// Usage state that several tasks, threads and processes share.
pub trait UsageStore: Send + Sync {
    /// The current state; no I/O, no waiting.
    fn snapshot(&self) -> Arc<AuthSnapshot>;

    /// Makes a change durable; when it returns, [`snapshot`](Self::snapshot) shows it.
    ///
    /// A [`UsageChange::Used`] returns as soon as the snapshot shows it (D11). Dropping the future does not undo
    /// the change.
    ///
    /// # Errors
    /// A [`StoreError`] when the change did not happen.
    fn commit(
        &self,
        change: UsageChange,
        now: Timestamp,
    ) -> impl Future<Output = Result<ChangeOutcome, StoreError>> + Send;

    /// Queues a change without waiting, for callers that cannot wait, such as a `Drop`. It is applied before later
    /// changes, and the engine logs a failure.
    fn enqueue(&self, change: UsageChange, now: Timestamp);
}

/// The stored profiles and their explicit orders.
pub trait ProfileStore: Send + Sync {
    /// Adds or replaces one profile; the state of another secret of that id ends (D9).
    ///
    /// # Errors
    /// A [`StoreError`] when nothing was stored.
    fn upsert(
        &self,
        id: ProfileId,
        credential: Credential,
        now: Timestamp,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Removes one profile with its state and every reference to it.
    ///
    /// # Errors
    /// [`StoreError::UnknownProfile`] when there is none, or another [`StoreError`] when it is still there.
    fn remove(&self, id: ProfileId, now: Timestamp) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Removes all profiles of a provider; see [`AuthSnapshot::remove_provider`].
    ///
    /// # Errors
    /// A [`StoreError`] when nothing was removed.
    fn remove_provider(
        &self,
        provider: ProviderId,
        now: Timestamp,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Sets the explicit order of a provider; an empty list ends it. Check ids of an operator before, with
    /// [`AuthSnapshot::check_order`].
    ///
    /// # Errors
    /// A [`StoreError`] when nothing was stored.
    fn set_order(
        &self,
        provider: ProviderId,
        ids: Vec<ProfileId>,
        now: Timestamp,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// A store whose logins can be refreshed by one process at a time.
pub trait LoginStore: UsageStore {
    /// Makes a change durable; when it returns, the snapshot shows everything that was stored before it, too.
    ///
    /// [`ChangeOutcome::HeldElsewhere`] answers a [`LoginChange::Lease`] while another holder has it, and
    /// [`ChangeOutcome::Unchanged`] a [`LoginChange::Renew`] of a login that is not the stored one any more.
    ///
    /// # Errors
    /// A [`StoreError`] when the change did not happen.
    fn change_login(
        &self,
        id: ProfileId,
        change: LoginChange,
        now: Timestamp,
    ) -> impl Future<Output = Result<ChangeOutcome, StoreError>> + Send;

    /// Gives a refresh lease back without waiting.
    fn end_refresh(&self, id: ProfileId, holder: String, now: Timestamp);

    /// The login as its owner stores it (I9); `None` when there is none, or it is no login (O13).
    fn stored_login(&self, id: &ProfileId) -> Option<Oauth> {
        self.snapshot().stored_login(id)
    }

    /// The refresh lease of a login, as its owner stores it (I9).
    fn refresh_lease(&self, id: &ProfileId) -> Option<RefreshLease> {
        self.snapshot().refreshes.get(id).cloned()
    }

    /// The main agent's login of that id, where this store inherits from it.
    fn main_login(&self, _id: &ProfileId) -> Option<Oauth> {
        None
    }
}
