//! The write requests that the engine takes.

use jiff::Timestamp;
use openclaw_ids::{ProfileId, ProviderId};
use tokio::sync::oneshot;

use crate::{ChangeOutcome, Credential, LegacyProfiles, LoginChange, StoreError, UsageChange};

/// The result of a request.
pub(super) type Outcome = Result<ChangeOutcome, StoreError>;

/// One operation and where its result is sent.
pub(super) struct Request {
    pub(super) op: Operation,
    pub(super) now: Timestamp,
    pub(super) reply: Option<oneshot::Sender<Outcome>>,
}

/// The operations.
pub(super) enum Operation {
    Change(UsageChange),
    Import(Box<LegacyProfiles>, ImportCondition),
    Login(ProfileId, LoginChange),
    Remove(ProfileId),
    RemoveProvider(ProviderId),
    SetOrder(ProviderId, Vec<ProfileId>),
    Upsert(ProfileId, Box<Credential>),
}

/// Under which condition an import is done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ImportCondition {
    Always,
    /// Only while no profile was ever stored (G2).
    FirstUse,
}

impl Request {
    /// The change of usage state, if it is one.
    pub(super) fn change(&self) -> Option<&UsageChange> {
        match &self.op {
            Operation::Change(change) => Some(change),
            Operation::Import(..)
            | Operation::Login(..)
            | Operation::Remove(..)
            | Operation::RemoveProvider(..)
            | Operation::SetOrder(..)
            | Operation::Upsert(..) => None,
        }
    }
}
