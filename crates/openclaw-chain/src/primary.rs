//! The configured primary (chain.md 7).

use openclaw_ids::{ModelId, ModelRef, ProviderId};

use crate::alias::AliasIndex;
use crate::names::Names;
use crate::names::split_profile;

/// The provider of a bare name when the configuration says nothing else.
pub(crate) const DEFAULT_PROVIDER: &str = "openai";
/// The model of a configuration that names none.
pub(crate) const DEFAULT_MODEL: &str = "gpt-5.5";

/// The configured primary and how it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Primary {
    pub(crate) model: ModelRef,
    pub(crate) found: Found,
}

/// How the configured primary was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// The text is an alias.
    Alias(String),
    /// Nothing usable is configured; the default of the program.
    BuiltIn,
    /// Nothing usable is configured; the first model of the first provider that has one.
    FirstRow,
    /// The text has no provider and one is not known for it either, so it belongs to the default provider.
    Guessed(String),
    /// The text has no provider, but exactly one configured provider has the model.
    Inferred(String),
    /// The text names the model.
    Named(String),
    /// The text cannot be a model; what stands in its place.
    Unreadable(String, Box<Found>),
}

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Alias(text) => write!(f, "`{text}` is an alias"),
            Self::BuiltIn => f.write_str("no primary is configured, so the built-in default is used"),
            Self::FirstRow => {
                f.write_str("no primary is configured, so the first provider row's first model is used")
            }
            Self::Guessed(text) => write!(
                f,
                "`{text}` names no provider and none is known for it, so `{DEFAULT_PROVIDER}` is assumed; write `provider/model`"
            ),
            Self::Inferred(text) => write!(
                f,
                "`{text}` names no provider, but exactly one configured provider has it"
            ),
            Self::Named(text) => write!(f, "`{text}` is configured"),
            Self::Unreadable(text, instead) => {
                write!(
                    f,
                    "`{text}` is not a model reference and is ignored; write `provider/model`; {instead}"
                )
            }
        }
    }
}

/// Finds the primary for the text of a model setting; bare keys of `aliases` belong to the default provider.
pub(crate) fn primary(text: Option<&str>, names: &Names, aliases: &AliasIndex) -> Primary {
    let Some(text) = text else {
        return without_text(names).normalised(names);
    };
    let named = from_text(text, names, aliases);
    let primary = named.unwrap_or_else(|| {
        let Primary { model, found } = without_text(names);
        Primary::new(model, Found::Unreadable(text.to_owned(), Box::new(found)))
    });
    primary.normalised(names)
}

fn from_text(text: &str, names: &Names, aliases: &AliasIndex) -> Option<Primary> {
    let default_provider = aliases.default_provider();
    let (model, profile) = split_profile(text);
    let is_reference = text.contains('/');
    if profile.is_some() {
        // Step 1: with a profile, an alias wins whatever it is written on.
        if let Some(alias) = aliases.by_name(text).or_else(|| aliases.by_name(model)) {
            return Some(Primary::new(alias.target.clone(), Found::Alias(text.to_owned())));
        }
    }
    if is_reference && let Some(relayed) = names.relayed(model, default_provider) {
        // Step 2. A bare text waits until the aliases and the configured rows were asked.
        return Some(Primary::new(relayed, Found::Named(text.to_owned())));
    }
    if profile.is_none()
        && let Some(alias) = aliases.by_name(text)
    {
        // Step 3: an alias that looks like a reference may not hide the reference behind a bare key.
        if is_reference && alias.bare_key {
            let parsed = names.parse(text, default_provider)?;
            return Some(Primary::new(parsed, Found::Named(text.to_owned())));
        }
        return Some(Primary::new(alias.target.clone(), Found::Alias(text.to_owned())));
    }
    if is_reference {
        let resolved = aliases.resolve(text, names)?;
        return Some(Primary::new(resolved, Found::Named(text.to_owned())));
    }
    bare(text, model, names, default_provider)
}

/// Step 4: a text without `/`.
fn bare(text: &str, model: &str, names: &Names, default_provider: &ProviderId) -> Option<Primary> {
    if let Some(named) = names.openrouter_name(model) {
        return Some(Primary::new(named, Found::Named(text.to_owned())));
    }
    if let Some(provider) = names.unique_provider(model) {
        let inferred = ModelRef::new(provider, ModelId::try_new(model).ok()?);
        return Some(Primary::new(inferred, Found::Inferred(text.to_owned())));
    }
    // An unknown name is kept whole, a suffix that looks like a profile included.
    let guessed = ModelRef::new(default_provider.clone(), ModelId::try_new(text).ok()?);
    Some(Primary::new(guessed, Found::Guessed(text.to_owned())))
}

/// Step 6: nothing usable is configured.
fn without_text(names: &Names) -> Primary {
    let has_default_provider = names.providers().iter().any(|row| row.key == DEFAULT_PROVIDER);
    let first_row = names.providers().iter().find_map(|row| {
        let model = ModelId::try_new(&row.models.first()?.id).ok()?;
        Some(ModelRef::new(row.id.clone(), model))
    });
    match first_row.filter(|_| !has_default_provider) {
        Some(model) => Primary::new(model, Found::FirstRow),
        None => Primary::new(built_in(), Found::BuiltIn),
    }
}

impl Primary {
    fn new(model: ModelRef, found: Found) -> Self {
        Self { model, found }
    }

    fn normalised(self, names: &Names) -> Self {
        Self {
            model: names.normalise(&self.model),
            found: self.found,
        }
    }
}

/// The provider of a bare name when the configuration says nothing else.
#[expect(clippy::expect_used, reason = "a constant that a test reads too")]
pub(crate) fn default_provider() -> ProviderId {
    ProviderId::try_new(DEFAULT_PROVIDER).expect("the built-in provider is not blank")
}

/// The model of a configuration that names none.
#[expect(clippy::expect_used, reason = "a constant that a test reads too")]
pub(crate) fn built_in() -> ModelRef {
    let model = ModelId::try_new(DEFAULT_MODEL).expect("the built-in model is not blank");
    ModelRef::new(default_provider(), model)
}

#[cfg(test)]
mod tests;
