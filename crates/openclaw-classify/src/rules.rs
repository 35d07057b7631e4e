//! The rule tables in the order of evidence (classify.md C-3); the first row that matches decides.

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

#[cfg(test)]
pub(crate) use rule::FAMILIES;
pub use rule::{Concern, Example, Rule};
pub(crate) use rule::{Family, Saw, family, is_or_below, usual};

/// A table and what its rows may be asked about.
pub(crate) struct Table {
    pub(crate) stage: Stage,
    pub(crate) rows: &'static [Rule],
}

/// How strong the evidence of a table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Who did it; outranks everything that was said.
    Who,
    /// Rules of the user.
    User,
    /// Codes and explicit text; asked about what is quoted from upstream too (C-2.4).
    Explicit,
    /// Catch-all codes.
    CatchAll,
    /// The status, then nothing at all.
    Default,
}

/// All tables in order. Within the texts the order is the one of C-3 step 4.
#[rustfmt::skip]
pub(crate) static TABLES: &[Table] = &[
    Table { stage: Stage::Who, rows: local::WHO },
    Table { stage: Stage::Explicit, rows: providers::PROVIDERS },
    Table { stage: Stage::Explicit, rows: codes::CODES },
    Table { stage: Stage::Explicit, rows: request::SESSION_AND_MODEL },
    Table { stage: Stage::Explicit, rows: billing::BILLING },
    Table { stage: Stage::Explicit, rows: request::OVERFLOW },
    Table { stage: Stage::Explicit, rows: rate_limit::RATE },
    Table { stage: Stage::Explicit, rows: service::OVERLOAD },
    Table { stage: Stage::Explicit, rows: auth::AUTH },
    Table { stage: Stage::Explicit, rows: request::FORMAT },
    Table { stage: Stage::Explicit, rows: service::TRANSIENT },
    Table { stage: Stage::CatchAll, rows: providers::EMPTY_PHRASES },
    Table { stage: Stage::CatchAll, rows: codes::CATCH_ALL },
    Table { stage: Stage::Default, rows: status::DEFAULTS },
];

/// Every rule in the order in which they are asked.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    TABLES.iter().flat_map(|table| table.rows)
}
