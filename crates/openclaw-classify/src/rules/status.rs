//! What a status means when nothing else said anything, and the labels for when not even a status is known
//! (classify.md C-7, C-8, C-3 step 6).

use super::rule::{Concern, Rule, Saw, status, text};
use crate::Reason;

const fn row(id: &'static str, then: Reason, statuses: &'static [(u16, u16)]) -> Rule {
    Rule::new(id, then, Saw::Anything, status(statuses[0].0))
        .at(statuses)
        .vague()
}

/// First match wins; the sweep over 100 to 599 is a snapshot.
#[rustfmt::skip]
pub(super) static DEFAULTS: &[Rule] = &[
    Rule::new("label.bare-400", Reason::Unclassified, Saw::Silence, status(400)).at(&[(400, 400), (422, 422)]).vague(),
    row("status.format", Reason::Format, &[(400, 400), (422, 422)]).at_text(text("Something odd happened").at(400)),
    row("status.auth", Reason::Auth, &[(401, 401), (403, 403)]),
    row("status.billing", Reason::Billing, &[(402, 402)]),
    row("status.model", Reason::ModelNotFound, &[(404, 404)]),
    row("status.proxy", Reason::Timeout, &[(407, 407)]).concerning(Concern::Network),
    row("status.timeout", Reason::Timeout, &[(408, 408), (410, 410), (499, 499)]),
    row("status.overflow", Reason::ContextOverflow, &[(413, 413)]),
    row("status.rate", Reason::RateLimit, &[(429, 429)]),
    row("status.overloaded", Reason::Overloaded, &[(529, 529)]),
    row("status.server", Reason::Timeout, &[(500, 599)]),
    Rule::new("label.empty", Reason::EmptyResponse, Saw::Silence, text("")).at(&[(0, 299)]).vague(),
    Rule::new("label.unclassified", Reason::Unclassified, Saw::Anything, text("Something odd happened")).vague(),
];

impl Rule {
    /// Replaces the example by one with a text.
    const fn at_text(mut self, example: super::rule::Example) -> Self {
        self.example = example;
        self
    }
}
