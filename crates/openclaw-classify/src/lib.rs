#![doc = include_str!("../README.md")]

mod classify;
mod engine;
mod facts;
mod failure;
mod hint;
mod observation;
mod reason;
mod redact;
mod rule_set;
mod rules;
mod text;
mod verdict;

pub use classify::classify;
pub use failure::{AbortedBy, Failure, Header, Phase, TimeoutPhase, TimerOwner, Transport};
pub use hint::reset_hint;
pub use observation::{Observation, describe, observe, observed_tokens};
pub use reason::{Reason, UnknownReason};
pub use redact::{preview, redact};
pub use rule_set::{RuleError, RuleErrorKind, RuleSet};
pub use rules::{Example, Rule, rules};
pub use text::error_chain;
pub use text::phrase::PhraseError;
pub use verdict::{Certainty, Evidence, HintSource, Owner, ResetHint, RuleId, Scope, Verdict};
