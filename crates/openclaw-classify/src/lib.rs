#![doc = include_str!("../README.md")]

mod classify;
mod describe;
pub mod error_chain;
mod facts;
mod failure;
mod few;
mod hint;
mod keyed;
mod loose;
mod needles;
mod normal;
mod pattern;
mod phrase;
mod preview;
mod reason;
mod redact;
mod row;
mod rule;
mod rule_set;
mod rules;
mod tokens;
mod verdict;

pub use classify::{classify, reset_hint};
pub use describe::{Observed, describe, observe};
pub use failure::{AbortedBy, Failure, Header, Phase, TimeoutPhase, TimerOwner, Transport};
pub use phrase::PhraseFault;
pub use preview::preview;
pub use reason::{Reason, UnknownReason};
pub use redact::redact;
pub use rule::{Concern, Example, Rule};
pub use rule_set::{BadRule, RuleFault, RuleSet};
pub use rules::rules;
pub use tokens::observed_tokens;
pub use verdict::{Certainty, Evidence, HintSource, Owner, ResetHint, RuleId, Scope, Verdict};
