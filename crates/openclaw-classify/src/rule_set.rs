//! A compiled set of rules: the shipped tables, and the rules that a user adds to them.

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

pub use user::{RuleError, RuleErrorKind};

/// The most rules that a user may add.
const MAX_RULES: usize = 500;

/// A compiled set of rules.
///
/// A user's rules are evaluated in their order, before every shipped rule except those for facts about the connection
/// and this machine (C-3 step 1), which no rule can override. Verdicts have their ids like those of shipped rules.
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
        // Thousands of compiled phrases would not help a reader.
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
    /// The shipped tables alone; what [`classify`](crate::classify()) uses.
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
    /// | `scope` | `model`, `profile`, `endpoint` or `none`; else the default for the reason (C-10) |
    ///
    /// `id`, `reason` and at least one of `provider`, `status`, `code` and `text` are required; all conditions that are
    /// given must hold. In a phrase `(a|b)` offers alternatives, ` .. ` leaves room for a few words of the same
    /// sentence, `*` at an end lifts the word boundary, `^` and `$` anchor it at the ends of its text. Case, blanks,
    /// `_`, `-` and the kind of quotes do not matter.
    ///
    /// # Errors
    /// The first rule that cannot be used, by its id or, when it has none, its position.
    pub fn with_rules(rules: &Value) -> Result<Self, RuleError> {
        let mut lexicon = LexiconBuilder::default();
        let written = rules
            .as_array()
            .ok_or_else(|| RuleError::in_list(RuleErrorKind::NotAList))?;
        if written.len() > MAX_RULES {
            return Err(RuleError::in_list(RuleErrorKind::TooMany));
        }
        let mut ids: HashSet<&str> = crate::rules().map(|rule| rule.id).collect();
        let mut rows = Vec::new();
        for (at, rule) in written.iter().enumerate() {
            let name = user::rule_name(rule, at);
            let row =
                user::parse_rule(rule, &mut lexicon).map_err(|fault| RuleError::in_rule(&name, fault))?;
            if !ids.insert(rule["id"].as_str().unwrap_or_default()) {
                return Err(RuleError::in_rule(&name, RuleErrorKind::IdTaken));
            }
            rows.push(row);
        }
        let rows = with_shipped(rows, &mut lexicon);
        if lexicon.len() >= MAX_PIECES {
            return Err(RuleError::in_list(RuleErrorKind::TooMany));
        }
        Ok(Self {
            index: Index::new(rows, lexicon),
        })
    }

    /// Classifies one failed attempt by these rules, as [`classify`](crate::classify()) does by the shipped ones.
    pub fn classify(&self, failure: &Failure, now: Timestamp) -> Option<Verdict> {
        crate::engine::evaluate(&self.index, failure, now)
    }

    /// The ids of all rules, in the order of evaluation.
    pub fn ids(&self) -> impl Iterator<Item = &RuleId> {
        self.index.rows().iter().map(|row| &row.id)
    }
}

/// The shipped rows and the user's rows, in the order of evaluation.
fn with_shipped(user_rows: Vec<Row>, lexicon: &mut LexiconBuilder) -> Vec<Row> {
    let shipped = TABLES
        .iter()
        .flat_map(|table| table.rows.iter().map(|rule| (table.stage, rule)));
    let mut rows = user_rows;
    rows.extend(shipped.map(|(stage, rule)| Row::shipped(rule, stage, lexicon)));
    // A stable sort keeps the order within a stage.
    rows.sort_by_key(|row| row.stage);
    rows
}

#[cfg(test)]
mod tests;
