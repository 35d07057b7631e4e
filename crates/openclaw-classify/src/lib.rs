//! Reads a provider failure and says why it happened, whose fault it is and what it concerns.
//!
//! The crate is pure: no I/O, no clock, no panics. A [`Failure`] holds whatever is known, [`classify`] walks
//! an ordered table and returns the [`Verdict`] of the first rule that matches.

mod failure;
mod reason;
mod verdict;

pub use failure::{AbortedBy, Failure, Header, Phase, TimeoutPhase, TimerOwner, Transport};
pub use reason::{Reason, UnknownReason};
pub use verdict::{Certainty, Evidence, HintSource, Owner, ResetHint, RuleId, Scope, Verdict};
