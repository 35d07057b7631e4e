//! What can be written, and who waits for it.

use jiff::Timestamp;
use openclaw_ids::{ProfileId, ProviderId};
use tokio::sync::oneshot;

use crate::{ChangeOutcome, Credential, LegacyProfiles, LoginChange, StoreError, UsageChange};

/// What became of a change.
pub(super) type Outcome = Result<ChangeOutcome, StoreError>;

/// One change, and who waits for it.
pub(super) struct Request {
    pub(super) op: Op,
    pub(super) now: Timestamp,
    pub(super) reply: Option<oneshot::Sender<Outcome>>,
}

/// What can be written.
pub(super) enum Op {
    Change(UsageChange),
    Import(Box<LegacyProfiles>, Occasion),
    Login(ProfileId, LoginChange),
    Remove(ProfileId),
    RemoveProvider(ProviderId),
    SetOrder(ProviderId, Vec<ProfileId>),
    Upsert(ProfileId, Box<Credential>),
}

/// When an import counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Occasion {
    Always,
    /// Only while no profile was ever stored (G2).
    FirstUse,
}

impl Request {
    /// The change of usage state, when it is one.
    pub(super) fn change(&self) -> Option<&UsageChange> {
        match &self.op {
            Op::Change(change) => Some(change),
            Op::Import(..)
            | Op::Login(..)
            | Op::Remove(..)
            | Op::RemoveProvider(..)
            | Op::SetOrder(..)
            | Op::Upsert(..) => None,
        }
    }
}
