//! The ordered candidates of a run (chain.md 8).

use std::collections::HashSet;
use std::iter::once;

use openclaw_ids::{ModelId, ModelRef, ProviderId};

use crate::resolver::{Presence, Resolver, each_once};
use crate::source::{Requested, Selection};

/// A chain and how each part of it came about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChainExplanation {
    /// The candidates in order, each once.
    pub candidates: Vec<Candidate>,
    /// What was configured but is no candidate.
    pub dropped: Vec<Dropped>,
}

/// One member of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The model, in its normal form.
    pub model: ModelRef,
    /// Why it is in the chain.
    pub origin: CandidateOrigin,
}

/// Why a candidate is in the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CandidateOrigin {
    /// An entry of the fallback list, as written.
    Fallback(String),
    /// The configured primary, appended last (C6, F-4).
    Primary,
    /// It is what the run asks for (C1).
    Requested,
}

/// An entry that did not become a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Where it came from.
    pub origin: CandidateOrigin,
    /// Why it was dropped.
    pub cause: DropCause,
}

/// Why an entry did not become a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// The same model stands earlier in the chain (C10).
    Duplicate(ModelRef),
    /// The text cannot be a model reference (C4).
    Unreadable,
}

impl ChainExplanation {
    /// Keeps each model once, at its first place; `None` stands for a text that is no reference.
    pub(crate) fn new<'a>(members: impl Iterator<Item = (Option<ModelRef>, Member<'a>)>) -> Self {
        let mut seen = HashSet::new();
        let mut explanation = Self::default();
        for (model, member) in members {
            let origin = member.into();
            let cause = match model {
                None => DropCause::Unreadable,
                Some(model) if !seen.insert(model.clone()) => DropCause::Duplicate(model),
                Some(model) => {
                    explanation.candidates.push(Candidate { model, origin });
                    continue;
                }
            };
            explanation.dropped.push(Dropped { origin, cause });
        }
        explanation
    }

    /// The candidates alone.
    pub(crate) fn into_models(self) -> Vec<ModelRef> {
        self.candidates
            .into_iter()
            .map(|candidate| candidate.model)
            .collect()
    }
}

impl std::fmt::Display for ChainExplanation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, Candidate { model, origin }) in self.candidates.iter().enumerate() {
            writeln!(f, "{}. {model} ({origin})", index + 1)?;
        }
        for Dropped { origin, cause } in &self.dropped {
            match cause {
                DropCause::Duplicate(model) => {
                    writeln!(f, "-  {origin} is already in the chain as {model}")?;
                }
                DropCause::Unreadable => {
                    writeln!(
                        f,
                        "-  {origin} is not a model reference; write it as `provider/model`"
                    )?;
                }
            }
        }
        Ok(())
    }
}

impl std::fmt::Display for CandidateOrigin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Fallback(text) => write!(f, "fallback `{text}`"),
            Self::Primary => f.write_str("configured primary"),
            Self::Requested => f.write_str("requested"),
        }
    }
}

impl Resolver {
    /// The candidates of a run (chain.md 8): the requested model, then the fallbacks, then, only when no list is
    /// passed, the configured primary. Each candidate stands once, at its first position.
    pub fn chain(&self, requested: &Requested, fallbacks: Option<&[String]>) -> Vec<ModelRef> {
        let Some(fallbacks) = fallbacks else {
            let first = self.requested(requested);
            let mut chain = Vec::with_capacity(1 + self.configured.len());
            chain.push(first);
            chain.extend_from_slice(&self.configured);
            let is_first = |model: &ModelRef| ends_alike(model, &chain[0]) && *model == chain[0];
            let later = chain[1..].iter().position(is_first);
            if let Some(at) = later {
                chain.remove(1 + at);
            }
            return chain;
        };
        each_once(
            self.members(requested, Some(fallbacks))
                .filter_map(|(model, _)| model),
        )
    }

    /// As [`chain`](Self::chain), with the origin of every candidate and what was left out.
    pub fn explain_chain(&self, requested: &Requested, fallbacks: Option<&[String]>) -> ChainExplanation {
        ChainExplanation::new(self.members(requested, fallbacks))
    }

    /// The candidates of a run that asks for `requested` under the rules of `selection`, in order, each once.
    pub fn selected_chain(&self, requested: &Requested, selection: &Selection) -> Vec<ModelRef> {
        let mut chain = self.chain(requested, selection.fallbacks.as_deref());
        if let Some(last) = &selection.last
            && !chain.contains(last)
        {
            chain.push(last.clone());
        }
        chain
    }

    /// As [`selected_chain`](Self::selected_chain), with the origin of every candidate and what was left out.
    pub fn explain_selected_chain(&self, requested: &Requested, selection: &Selection) -> ChainExplanation {
        let last = selection.last.clone();
        let last = last.map(|primary| (Some(primary), Member::Primary));
        ChainExplanation::new(
            self.members(requested, selection.fallbacks.as_deref())
                .chain(last),
        )
    }

    fn members<'a>(
        &'a self,
        requested: &Requested,
        fallbacks: Option<&'a [String]>,
    ) -> impl Iterator<Item = (Option<ModelRef>, Member<'a>)> {
        let first = (Some(self.requested(requested)), Member::Requested);
        let configured = || self.defaults.model.fallbacks().unwrap_or_default();
        let listed = fallbacks.unwrap_or_else(configured).iter();
        let listed = listed.map(|text| (self.resolve(text), Member::Fallback(text)));
        let appended = fallbacks.is_none() && self.presence == Presence::Configured;
        let last = appended.then(|| (Some(self.primary()), Member::Primary));
        once(first).chain(listed).chain(last)
    }

    /// The model a request means (C2, C3).
    fn requested(&self, requested: &Requested) -> ModelRef {
        let primary = &self.primary.model;
        let provider =
            ProviderId::try_new(&requested.provider).unwrap_or_else(|_| primary.provider().clone());
        let model = ModelId::try_new(&requested.model).unwrap_or_else(|_| primary.model().clone());
        let pair = ModelRef::verbatim(provider, model);
        let text = pair.key();
        if let Some(alias) = self.aliases.by_name(&text) {
            return alias.target.clone();
        }
        if let Some(target) = self.aliases.by_provider(&text) {
            return target.clone();
        }
        let bare = self
            .aliases
            .by_name(pair.model().as_str())
            .filter(|alias| same_place(&alias.target, &pair, primary));
        bare.map_or_else(|| self.names.normalise(&pair), |alias| alias.target.clone())
    }
}

/// Whether two references may be equal: the same key ends with the model of either.
fn ends_alike(one: &ModelRef, other: &ModelRef) -> bool {
    let (one, other) = (one.model().as_str(), other.model().as_str());
    one.ends_with(other) || other.ends_with(one)
}

/// Whether a bare alias may speak for a requested pair (C3, second half).
fn same_place(target: &ModelRef, requested: &ModelRef, primary: &ModelRef) -> bool {
    target.provider() == requested.provider() || requested.provider() == primary.provider()
}

/// A place in a chain before duplicates are removed; [`CandidateOrigin`] without its own copy of the text.
#[derive(Clone, Copy)]
pub(crate) enum Member<'a> {
    Fallback(&'a str),
    Primary,
    Requested,
}

impl From<Member<'_>> for CandidateOrigin {
    fn from(member: Member<'_>) -> Self {
        match member {
            Member::Fallback(text) => Self::Fallback(text.to_owned()),
            Member::Primary => Self::Primary,
            Member::Requested => Self::Requested,
        }
    }
}

#[cfg(test)]
mod tests;
