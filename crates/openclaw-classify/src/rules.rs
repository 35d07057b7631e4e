//! The shipped rules, as tables in the order of their evidence (classify.md C-3); the first rule that matches decides.

mod auth;
mod billing;
mod codes;
mod local;
mod providers;
mod rate_limit;
mod request;
mod rule;
mod service;
mod status;

pub(crate) use rule::{Condition, default_owner_and_scope};
pub use rule::{Example, Rule};

/// A table of rules and its stage.
pub(crate) struct Table {
    pub(crate) stage: Stage,
    pub(crate) rows: &'static [Rule],
}

/// How strong the evidence of a table is, in the order of evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Facts about the connection and this machine; they outrank everything that a provider says.
    LocalFacts,
    /// Rules of the user.
    User,
    /// Codes and explicit texts, also those quoted from upstream (C-2.4).
    Explicit,
    /// Catch-all codes and phrases.
    CatchAll,
    /// The status, or nothing at all.
    Default,
}

/// All tables in order. The tables of texts are in the order of C-3 step 4.
#[rustfmt::skip]
pub(crate) static TABLES: &[Table] = &[
    Table { stage: Stage::LocalFacts, rows: local::LOCAL },
    Table { stage: Stage::Explicit, rows: providers::PROVIDERS },
    Table { stage: Stage::Explicit, rows: request::REFERENCES },
    Table { stage: Stage::Explicit, rows: codes::CODES },
    Table { stage: Stage::Explicit, rows: request::SESSION_AND_MODEL },
    Table { stage: Stage::Explicit, rows: billing::BILLING },
    Table { stage: Stage::Explicit, rows: request::OVERFLOW },
    Table { stage: Stage::Explicit, rows: rate_limit::RATE_LIMIT },
    Table { stage: Stage::Explicit, rows: service::OVERLOAD },
    Table { stage: Stage::Explicit, rows: auth::AUTH },
    Table { stage: Stage::Explicit, rows: request::FORMAT },
    Table { stage: Stage::Explicit, rows: service::TRANSIENT },
    Table { stage: Stage::CatchAll, rows: providers::GENERIC_PHRASES },
    Table { stage: Stage::CatchAll, rows: codes::CATCH_ALL },
    Table { stage: Stage::Default, rows: status::DEFAULTS },
];

/// All shipped rules, in the order of evaluation.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    TABLES.iter().flat_map(|table| table.rows)
}
