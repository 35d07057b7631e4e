#![doc = include_str!("../README.md")]

mod classify;
mod engine;
pub mod error_chain;
mod facts;
mod failure;
mod few;
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
pub use observation::{Observed, describe, observe, observed_tokens};
pub use reason::{Reason, UnknownReason};
pub use redact::{preview, redact};
pub use rule_set::{BadRule, RuleFault, RuleSet};
pub use rules::{Concern, Example, Rule, rules};
pub use text::phrase::PhraseFault;
pub use verdict::{Certainty, Evidence, HintSource, Owner, ResetHint, RuleId, Scope, Verdict};
