//! A compiled row of the rule tables: a shipped rule or a user's rule, with its phrases compiled.

use std::borrow::Cow;

use openclaw_providers::Family;

use crate::rules::{Condition, Rule, Stage};
use crate::text::phrase::{LexiconBuilder, Phrase};
use crate::{Certainty, Owner, Reason, RuleId, Scope, Transport};

/// Conditions, all of which must hold, and the verdict they stand for. An empty list is no condition.
pub(crate) struct Row {
    pub(crate) id: RuleId,
    pub(crate) stage: Stage,
    pub(crate) then: Reason,
    pub(crate) certainty: Certainty,
    pub(crate) owner: Owner,
    pub(crate) scope: Scope,
    pub(crate) providers: ProviderFilter,
    /// Ranges of statuses, both ends included; 0 stands for no status.
    pub(crate) statuses: Cow<'static, [(u16, u16)]>,
    /// Letters and digits only, in lower case.
    pub(crate) codes: Vec<Cow<'static, str>>,
    pub(crate) phrases: Vec<Phrase>,
    /// Phrases none of which may occur.
    pub(crate) unless: Vec<Phrase>,
    pub(crate) transports: &'static [Transport],
    /// Matches only when there is neither a text nor a code.
    pub(crate) empty_only: bool,
}

/// Which providers' failures a row matches.
pub(crate) enum ProviderFilter {
    Any,
    Families(&'static [Family]),
    /// Provider ids or hosts, in lower case.
    Named(Vec<String>),
}

impl Row {
    /// The row of a shipped rule.
    pub(crate) fn shipped(rule: &'static Rule, stage: Stage, lexicon: &mut LexiconBuilder) -> Self {
        let (owner, scope) = rule.owner_and_scope();
        let mut row = Self {
            id: rule.rule_id(),
            stage,
            then: rule.then,
            certainty: rule.certainty,
            owner,
            scope,
            providers: match rule.families {
                [] => ProviderFilter::Any,
                families => ProviderFilter::Families(families),
            },
            statuses: Cow::Borrowed(rule.statuses),
            codes: Vec::new(),
            phrases: Vec::new(),
            unless: compile_phrases(rule.unless, lexicon),
            transports: &[],
            empty_only: false,
        };
        match rule.condition {
            Condition::Any => {}
            Condition::Codes(codes) => row.codes = codes.iter().map(|code| Cow::Borrowed(*code)).collect(),
            Condition::Empty => row.empty_only = true,
            Condition::Phrases(phrases) => row.phrases = compile_phrases(phrases, lexicon),
            Condition::Transports(transports) => row.transports = transports,
        }
        row
    }
}

fn compile_phrases(phrases: &[&str], lexicon: &mut LexiconBuilder) -> Vec<Phrase> {
    phrases.iter().map(|phrase| lexicon.phrase(phrase)).collect()
}
