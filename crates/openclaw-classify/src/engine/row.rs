//! One row as it is asked: a shipped rule or a user's, with its phrases compiled.

use std::borrow::Cow;

use crate::failure::Transport;
use crate::rules::Stage;
use crate::rules::{Family, Rule, Saw};
use crate::text::phrase::{LexiconBuilder, Phrase};
use crate::{Certainty, Owner, Reason, RuleId, Scope};

/// What must be seen, all of it, and what it means. An empty list asks for nothing.
pub(crate) struct Row {
    pub(crate) id: RuleId,
    pub(crate) stage: Stage,
    pub(crate) then: Reason,
    pub(crate) certainty: Certainty,
    pub(crate) owner: Owner,
    pub(crate) scope: Scope,
    pub(crate) providers: Providers,
    /// Ranges, both ends included.
    pub(crate) statuses: Cow<'static, [(u16, u16)]>,
    /// As letters and digits only.
    pub(crate) codes: Vec<Cow<'static, str>>,
    pub(crate) phrases: Vec<Phrase>,
    pub(crate) unless: Vec<Phrase>,
    pub(crate) transports: &'static [Transport],
    /// Nothing usable was said: no text, no code.
    pub(crate) silence: bool,
}

/// Whose failures a row is asked about.
pub(crate) enum Providers {
    Any,
    Families(&'static [Family]),
    /// Provider ids or hosts, lower case.
    Named(Vec<String>),
}

impl Row {
    /// A shipped rule.
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
                [] => Providers::Any,
                families => Providers::Families(families),
            },
            statuses: Cow::Borrowed(rule.statuses),
            codes: Vec::new(),
            phrases: Vec::new(),
            unless: compiled(rule.unless, lexicon),
            transports: &[],
            silence: false,
        };
        match rule.saw {
            Saw::Anything => {}
            Saw::Codes(codes) => row.codes = codes.iter().map(|code| Cow::Borrowed(*code)).collect(),
            Saw::Phrases(phrases) => row.phrases = compiled(phrases, lexicon),
            Saw::Silence => row.silence = true,
            Saw::Transports(transports) => row.transports = transports,
        }
        row
    }
}

fn compiled(phrases: &[&str], lexicon: &mut LexiconBuilder) -> Vec<Phrase> {
    phrases.iter().map(|phrase| lexicon.phrase(phrase)).collect()
}
