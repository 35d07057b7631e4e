//! The rules that failures are judged by: the shipped tables, and the rules a user adds to them.

mod user;

use std::collections::HashSet;
use std::fmt;
use std::sync::LazyLock;

use jiff::Timestamp;
use serde_json::Value;

use crate::engine::Index;
use crate::engine::Row;
use crate::rules::TABLES;
use crate::text::phrase::{LexiconBuilder, MAX_PIECES};
use crate::{Failure, RuleId, Verdict};

pub use user::{BadRule, RuleFault};

/// More rules than this are no longer something a person wrote.
const MAX_RULES: usize = 500;

/// A compiled set of rules.
///
/// A user's rules are asked in their order, before every shipped rule except the facts about the connection and this
/// machine (C-3 step 1): who cancelled is no matter of opinion. Their ids stand in verdicts like the shipped ones.
///
/// ```
/// use openclaw_classify::{Failure, Reason, RuleSet, Scope};
/// let rules = serde_json::json!([
///     { "id": "acme.nap", "provider": "acme", "status": "500-599", "text": "(napping|asleep) .. back (soon|later)",
///       "reason": "overloaded", "scope": "model" },
/// ]);
/// let set = RuleSet::with_rules(&rules).expect("these rules are well formed");
/// let failure = Failure {
///     host: Some("llm.acme".into()),
///     provider: openclaw_ids::ProviderId::try_new("acme").ok(),
///     status: Some(503),
///     message: Some("The model is napping, back soon.".into()),
///     ..Failure::default()
/// };
/// let verdict = set.classify(&failure, jiff::Timestamp::UNIX_EPOCH).expect("a failure");
/// assert_eq!((verdict.rule.as_str(), verdict.reason), ("acme.nap", Reason::Overloaded));
/// ```
pub struct RuleSet {
    index: Index,
}

impl fmt::Debug for RuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Thousands of compiled phrases help nobody.
        let rules = self.index.rows().len();
        f.debug_struct("RuleSet")
            .field("rules", &rules)
            .finish_non_exhaustive()
    }
}

static SHIPPED: LazyLock<RuleSet> = LazyLock::new(|| {
    let mut lexicon = LexiconBuilder::default();
    let rows = with_shipped(Vec::new(), &mut lexicon);
    RuleSet {
        index: Index::new(rows, lexicon),
    }
});

impl RuleSet {
    /// The shipped tables alone; what [`classify`](crate::classify) uses.
    pub fn shipped() -> &'static Self {
        &SHIPPED
    }

    /// The shipped tables and `rules`, a list of objects:
    ///
    /// | Member | Meaning |
    /// |---|---|
    /// | `id` | name in verdicts: lower-case letters, digits, `.` and `-`; no shipped rule's id |
    /// | `provider` | provider id or host (its subdomains too), or a list of them |
    /// | `status` | `429`, `"500-599"`, or a list of them |
    /// | `code` | code or type, case and separators do not matter, or a list of them |
    /// | `text` | phrase, or a list of them, one of which must occur |
    /// | `unless` | phrase, or a list of them, none of which may occur |
    /// | `reason` | a name of [`Reason`](crate::Reason) |
    /// | `scope` | `model`, `profile`, `endpoint` or `none`; else what is usual for the reason (C-10) |
    ///
    /// `id`, `reason` and at least one of `provider`, `status`, `code` and `text` must be there; all that are there must
    /// hold. In a phrase `(a|b)` offers alternatives, ` .. ` leaves room for a few words of the same sentence, `*` at an
    /// end lifts the word boundary, `^` and `$` tie it to the ends of its text. Case, blanks, `_`, `-` and the kind of
    /// quotes do not matter.
    ///
    /// # Errors
    /// The first bad rule, by its id or, when it has none, its place.
    pub fn with_rules(rules: &Value) -> Result<Self, BadRule> {
        let mut lexicon = LexiconBuilder::default();
        let written = rules
            .as_array()
            .ok_or_else(|| BadRule::of_all(RuleFault::NoList))?;
        if written.len() > MAX_RULES {
            return Err(BadRule::of_all(RuleFault::TooMany));
        }
        let mut ids: HashSet<&str> = crate::rules().map(|rule| rule.id).collect();
        let mut rows = Vec::new();
        for (at, rule) in written.iter().enumerate() {
            let name = user::name(rule, at);
            let row = user::read(rule, &mut lexicon).map_err(|fault| BadRule::of(&name, fault))?;
            if !ids.insert(rule["id"].as_str().unwrap_or_default()) {
                return Err(BadRule::of(&name, RuleFault::IdTaken));
            }
            rows.push(row);
        }
        let rows = with_shipped(rows, &mut lexicon);
        if lexicon.len() >= MAX_PIECES {
            return Err(BadRule::of_all(RuleFault::TooMany));
        }
        Ok(Self {
            index: Index::new(rows, lexicon),
        })
    }

    /// Judges one failed attempt; `None` when it is none ([`classify`](crate::classify) with these rules).
    pub fn classify(&self, failure: &Failure, now: Timestamp) -> Option<Verdict> {
        crate::engine::judged(&self.index, failure, now)
    }

    /// The ids of all rules in the order in which they are asked.
    pub fn ids(&self) -> impl Iterator<Item = &RuleId> {
        self.index.rows().iter().map(|row| &row.id)
    }
}

/// The shipped rows with a user's in their place.
fn with_shipped(users: Vec<Row>, lexicon: &mut LexiconBuilder) -> Vec<Row> {
    let shipped = TABLES
        .iter()
        .flat_map(|table| table.rows.iter().map(|rule| (table.stage, rule)));
    let mut rows = users;
    rows.extend(shipped.map(|(stage, rule)| Row::shipped(rule, stage, lexicon)));
    // Stable: within a stage the order stays.
    rows.sort_by_key(|row| row.stage);
    rows
}

#[cfg(test)]
mod tests;
