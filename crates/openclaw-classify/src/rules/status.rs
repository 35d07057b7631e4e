//! Rules for a status without other evidence, and for failures without even a status (classify.md C-3
//! step 6, C-7, C-8).

use super::rule::{Attribution, Condition, Rule, status, text};
use crate::Reason;

const fn row(id: &'static str, then: Reason, statuses: &'static [(u16, u16)]) -> Rule {
    Rule::new(id, then, Condition::Any, status(statuses[0].0))
        .at(statuses)
        .default_certainty()
}

/// Defaults by status; a snapshot test covers 100 to 599.
#[rustfmt::skip]
pub(super) static DEFAULTS: &[Rule] = &[
    Rule::new("label.bare-400", Reason::Unclassified, Condition::Empty, status(400)).at(&[(400, 400), (422, 422)]).default_certainty(),
    row("status.format", Reason::Format, &[(400, 400), (422, 422)]).at_text(text("Something odd happened").at(400)),
    row("status.auth", Reason::Auth, &[(401, 401), (403, 403)]),
    row("status.billing", Reason::Billing, &[(402, 402)]),
    row("status.model", Reason::ModelNotFound, &[(404, 404)]),
    row("status.proxy", Reason::Timeout, &[(407, 407)]).attributed_to(Attribution::Network),
    row("status.timeout", Reason::Timeout, &[(408, 408), (410, 410), (499, 499)]),
    row("status.overflow", Reason::ContextOverflow, &[(413, 413)]),
    row("status.rate", Reason::RateLimit, &[(429, 429)]),
    row("status.overloaded", Reason::Overloaded, &[(529, 529)]),
    row("status.server", Reason::Timeout, &[(500, 599)]),
    Rule::new("label.empty", Reason::EmptyResponse, Condition::Empty, text("")).at(&[(0, 299)]).default_certainty(),
    Rule::new("label.unclassified", Reason::Unclassified, Condition::Any, text("Something odd happened")).default_certainty(),
];

impl Rule {
    /// Replaces the example.
    const fn at_text(mut self, example: super::rule::Example) -> Self {
        self.example = example;
        self
    }
}
