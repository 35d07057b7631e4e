//! What the configuration says a model can do, against what a run needs (BL-54).

use std::collections::HashMap;

use openclaw_ids::{ModelId, ModelRef, ProviderId};

use crate::config::{ModelRow, ModelsConfig, ProviderConfig};
use crate::names::Names;
use crate::resolver::Resolver;

/// What is known about a model; what its row and its provider's do not say is unknown, which is not a no.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// How many tokens it holds: `contextTokens`, else `contextWindow`, of the model, else of its provider.
    pub context_window: Option<u64>,
    /// Whether it takes images (`input`).
    pub images: Support,
    /// Whether it calls tools (`compat.supportsTools`).
    pub tools: Support,
}

/// Whether a model can do something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Support {
    /// It cannot.
    No,
    /// Nothing is said about it.
    #[default]
    Unknown,
    /// It can.
    Yes,
}

/// What a run needs of a model, as its caller states it; by default nothing, so that no candidate is ruled out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    tokens: Option<u64>,
    images: bool,
    tools: bool,
}

/// Why a model cannot serve a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortfall {
    /// It takes no images.
    Images,
    /// It calls no tools.
    Tools,
    /// Its context window is too small.
    Window {
        /// How many tokens it holds.
        holds: u64,
        /// How many the run needs.
        needs: u64,
    },
}

impl Needs {
    /// Room for this many tokens: the prompt and whatever the caller wants answered.
    #[must_use]
    pub fn with_tokens(self, tokens: u64) -> Self {
        Self {
            tokens: Some(tokens),
            ..self
        }
    }

    /// The prompt has images.
    #[must_use]
    pub fn with_images(self) -> Self {
        Self { images: true, ..self }
    }

    /// The model must call tools.
    #[must_use]
    pub fn with_tools(self) -> Self {
        Self { tools: true, ..self }
    }
}

impl Capabilities {
    /// Why the model is known not to serve these needs; `None` when it does or when nothing is known. A prompt
    /// of exactly the window's size fits.
    pub fn shortfall(&self, needs: &Needs) -> Option<Shortfall> {
        let window = self.context_window.zip(needs.tokens);
        if let Some((holds, needs)) = window.filter(|(holds, needs)| holds < needs) {
            return Some(Shortfall::Window { holds, needs });
        }
        if needs.images && self.images == Support::No {
            return Some(Shortfall::Images);
        }
        (needs.tools && self.tools == Support::No).then_some(Shortfall::Tools)
    }
}

impl std::fmt::Display for Shortfall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Images => f.write_str("it takes no images"),
            Self::Tools => f.write_str("it calls no tools"),
            Self::Window { holds, needs } => {
                write!(
                    f,
                    "its context window holds {holds} tokens and {needs} are needed"
                )
            }
        }
    }
}

impl Resolver {
    /// What the configuration says about a model, compared in its normal form.
    pub fn capabilities(&self, model: &ModelRef) -> Capabilities {
        let model = self.names.pair(model.provider(), model.model());
        let known = self.capabilities.by_model.get(&model);
        let known = known.or_else(|| self.capabilities.by_provider.get(model.provider()));
        known.copied().unwrap_or_default()
    }
}

/// The capabilities of every row.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownCapabilities {
    by_model: HashMap<ModelRef, Capabilities>,
    /// What a provider says about models without a row.
    by_provider: HashMap<ProviderId, Capabilities>,
}

impl KnownCapabilities {
    pub(crate) fn new(models: &ModelsConfig, names: &Names) -> Self {
        let mut known = Self::default();
        for (key, provider) in &models.providers {
            let Ok(id) = ProviderId::try_new(key) else {
                continue;
            };
            if known.by_provider.contains_key(&id) {
                continue; // V4: the first row of a provider speaks for it.
            }
            for row in &provider.models {
                if let Ok(model) = ModelId::try_new(&row.id) {
                    known
                        .by_model
                        .entry(names.pair(&id, &model))
                        .or_insert_with(|| of_row(row, provider));
                }
            }
            known
                .by_provider
                .insert(id, of_row(&ModelRow::default(), provider));
        }
        known
    }
}

fn of_row(row: &ModelRow, provider: &ProviderConfig) -> Capabilities {
    let own = row.context_tokens.or(row.context_window);
    let images = match (row.input.is_empty(), row.takes_images()) {
        (true, _) => Support::Unknown,
        (false, true) => Support::Yes,
        (false, false) => Support::No,
    };
    let tools = match row.supports_tools {
        None => Support::Unknown,
        Some(true) => Support::Yes,
        Some(false) => Support::No,
    };
    Capabilities {
        context_window: own.or(provider.context_tokens).or(provider.context_window),
        images,
        tools,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{model, resolver};
    use serde_json::json;

    fn known() -> Resolver {
        resolver(json!({ "models": { "providers": {
            "Local": {
                "contextWindow": 1000,
                "models": [
                    { "id": "m", "input": ["text", "image"], "contextWindow": 200_000, "compat": { "supportsTools": true } },
                    { "id": "n", "input": ["text"], "contextWindow": 9, "contextTokens": 5, "compat": { "supportsTools": false } },
                    { "id": "o" },
                    { "id": "m", "contextWindow": 1 },
                ],
            },
            "LOCAL": { "models": [{ "id": "p", "contextWindow": 7 }] },
            "relay": { "api": "openai-completions", "models": [{ "id": "google/gemini-3-pro", "contextWindow": 3 }] },
            "google": { "models": [{ "id": "gemini-3-pro", "contextWindow": 2_000_000 }] },
        } } }))
    }

    #[test]
    fn bl_54_what_the_rows_say() {
        use Support::{No, Unknown, Yes};
        for (text, window, images, tools) in [
            ("local/m", Some(200_000), Yes, Yes),
            ("local/n", Some(5), No, No),
            ("local/o", Some(1000), Unknown, Unknown),
            ("local/unlisted", Some(1000), Unknown, Unknown),
            ("local/p", Some(1000), Unknown, Unknown), // V4: the second row of the provider is not read
            ("google/gemini-3.1-pro-preview", Some(2_000_000), Unknown, Unknown), // by normal form
            ("google/gemini-3-pro", Some(2_000_000), Unknown, Unknown),
            ("relay/google/gemini-3-pro", Some(3), Unknown, Unknown),
            ("relay/google/gemini-3.1-pro-preview", Some(3), Unknown, Unknown),
            ("other/m", None, Unknown, Unknown),
        ] {
            let expected = Capabilities {
                context_window: window,
                images,
                tools,
            };
            assert_eq!(known().capabilities(&model(text)), expected, "{text}");
        }
    }

    #[test]
    fn bl_54_only_a_stated_need_and_a_known_size_rule_a_model_out() {
        let tokens = |tokens| Needs::default().with_tokens(tokens);
        let window = |holds, needs| Some(Shortfall::Window { holds, needs });
        for (text, needs, expected) in [
            ("local/n", Needs::default(), None),
            ("local/m", tokens(300_000), window(200_000, 300_000)),
            ("local/m", tokens(200_001), window(200_000, 200_001)),
            ("local/m", tokens(200_000), None),
            ("other/m", tokens(u64::MAX), None),
            ("local/n", Needs::default().with_images(), Some(Shortfall::Images)),
            ("local/n", Needs::default().with_tools(), Some(Shortfall::Tools)),
            ("local/n", tokens(6).with_images().with_tools(), window(5, 6)),
            ("local/m", tokens(1).with_images().with_tools(), None),
            ("local/o", Needs::default().with_images().with_tools(), None),
        ] {
            assert_eq!(
                known().capabilities(&model(text)).shortfall(&needs),
                expected,
                "{text} {needs:?}"
            );
        }
    }

    #[test]
    fn a_shortfall_says_what_is_missing() {
        let told = [
            Shortfall::Images,
            Shortfall::Tools,
            Shortfall::Window { holds: 5, needs: 6 },
        ]
        .map(|shortfall| shortfall.to_string());
        assert_eq!(
            told,
            [
                "it takes no images",
                "it calls no tools",
                "its context window holds 5 tokens and 6 are needed"
            ]
        );
    }
}
