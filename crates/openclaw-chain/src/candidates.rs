//! The ordered candidates of a run (chain.md 8).

use std::collections::HashSet;

use openclaw_ids::{ModelId, ModelRef, ProviderId};

use crate::names::Names;
use crate::resolver::{Presence, Resolver};

/// The model a run asks for, as the caller wrote it; a blank half comes from the configured primary (C2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requested {
    /// The provider.
    pub provider: String,
    /// The model, without the provider.
    pub model: String,
}

impl From<&ModelRef> for Requested {
    fn from(model: &ModelRef) -> Self {
        Self {
            provider: model.provider().to_string(),
            model: model.model().to_string(),
        }
    }
}

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
    pub origin: Origin,
}

/// Why a candidate is in the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An entry of the fallback list, as written.
    Fallback(String),
    /// The configured primary, appended last (C6).
    Primary,
    /// It is what the run asks for (C1).
    Requested,
}

/// An entry that did not become a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Where it came from.
    pub origin: Origin,
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
    /// The candidates alone.
    pub fn into_models(self) -> Vec<ModelRef> {
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

impl std::fmt::Display for Origin {
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
        self.explain_chain(requested, fallbacks).into_models()
    }

    /// As [`chain`](Self::chain), with the origin of every candidate and what was left out.
    pub fn explain_chain(&self, requested: &Requested, fallbacks: Option<&[String]>) -> ChainExplanation {
        let mut chain = Builder::new(&self.names);
        chain.add(Some(self.requested(requested)), Origin::Requested);
        let configured = || self.defaults.model.fallbacks().unwrap_or_default();
        for text in fallbacks.unwrap_or_else(configured) {
            chain.add(self.resolve(text), Origin::Fallback(text.clone()));
        }
        if fallbacks.is_none() && self.presence == Presence::Configured {
            chain.add(Some(self.primary()), Origin::Primary);
        }
        chain.explanation
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

/// Whether a bare alias may speak for a requested pair (C3, second half).
fn same_place(target: &ModelRef, requested: &ModelRef, primary: &ModelRef) -> bool {
    target.provider() == requested.provider() || requested.provider() == primary.provider()
}

/// Collects candidates in their normal form, each once.
pub(crate) struct Builder<'a> {
    names: &'a Names,
    seen: HashSet<ModelRef>,
    pub(crate) explanation: ChainExplanation,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(names: &'a Names) -> Self {
        Self {
            names,
            seen: HashSet::new(),
            explanation: ChainExplanation::default(),
        }
    }

    pub(crate) fn add(&mut self, model: Option<ModelRef>, origin: Origin) {
        let dropped = &mut self.explanation.dropped;
        let Some(model) = model.map(|model| self.names.normalise(&model)) else {
            dropped.push(Dropped {
                origin,
                cause: DropCause::Unreadable,
            });
            return;
        };
        if self.seen.insert(model.clone()) {
            self.explanation.candidates.push(Candidate { model, origin });
        } else {
            dropped.push(Dropped {
                origin,
                cause: DropCause::Duplicate(model),
            });
        }
    }
}

#[cfg(test)]
mod tests;
