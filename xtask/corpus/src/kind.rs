//! The kinds of corpus: how a row is asked, what counts as right, and which decisions may overrule it.

mod chain;
mod classify;
mod cooldown;
mod order;
mod run;
mod values;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::row::Row;

/// One kind of corpus.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// Asks the crates; a question that their types refuse is answered by [`refused`].
    pub(crate) answer: fn(&Row) -> Value,
    /// The answers that count as right; the recorded one comes first.
    pub(crate) accepted: fn(&Row) -> Vec<Value>,
    /// What may overrule a recorded answer.
    pub(crate) overruled: OverrulePolicy,
}

/// How decisions overrule recorded answers.
#[derive(Debug)]
pub(crate) enum OverrulePolicy {
    /// Each decision names the parts that it may change; the oracle knows all of them.
    ByReach {
        decisions: &'static [Decision],
        /// The whole answer under the decisions, calculated naively from the input alone and without the crates.
        oracle: fn(&Value) -> Value,
    },
    /// The oracle calculates the whole answer under any set of decisions. With none it finds what was recorded, with
    /// all of them what the crates answer; a row names the smallest set that is needed for that.
    ByReplay {
        decisions: &'static [&'static str],
        oracle: fn(&Value, &Switches) -> Value,
    },
}

impl OverrulePolicy {
    /// For kinds that no decision overrules.
    pub(crate) const NOTHING: Self = Self::ByReach {
        decisions: &[],
        oracle: |_| Value::Null,
    };
}

/// The decisions that hold for one calculation.
#[derive(Debug, Clone)]
pub(crate) struct Switches(BTreeSet<&'static str>);

impl Switches {
    pub(crate) fn of(decisions: &[&'static str]) -> Self {
        Self(decisions.iter().copied().collect())
    }

    pub(crate) fn without(&self, decision: &str) -> Self {
        Self(self.0.iter().copied().filter(|id| *id != decision).collect())
    }

    pub(crate) fn holds(&self, decision: &str) -> bool {
        self.0.contains(decision)
    }
}

/// A decision of the design that changes recorded answers.
#[derive(Debug)]
pub(crate) struct Decision {
    /// Its name in the list of decisions.
    pub(crate) id: &'static str,
    /// Reads off the input alone which paths of the answer the decision changes; none when it does not apply.
    /// A `*` in a path stands for any one segment, and a path covers everything below it.
    pub(crate) reach: fn(&Value) -> Vec<Vec<String>>,
}

/// In the order the help names them.
pub(crate) const KINDS: &[&Kind] = &[
    &classify::CLASSIFY,
    &classify::REAL_ERRORS,
    &chain::KIND,
    &order::KIND,
    &cooldown::KIND,
    &run::KIND,
];

/// Providers that the recorded program never rests.
const EXEMPT: [&str; 2] = ["openrouter", "kilocode"];
/// Providers of the recorded program that are command line tools with logins of their own.
const CLI: [&str; 2] = ["claude-cli", "codex-cli"];

/// For kinds whose recorded answer is the only right one.
pub(crate) fn recorded(row: &Row) -> Vec<Value> {
    vec![row.expected().clone()]
}

/// The answer to a question that cannot be asked in the crates' types; it agrees with no recorded one.
pub(crate) fn refused(why: &str) -> Value {
    json!({"refused": why})
}
