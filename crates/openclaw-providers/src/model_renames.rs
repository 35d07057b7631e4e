//! Renames of model ids: what the ids of single providers become (chain.md 4, steps 3 and 4). Data that ages.

/// What the model ids of some providers become; the steps run in the order of the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelRenames {
    /// The providers.
    pub providers: &'static [&'static str],
    /// When the renames hold for the keys of a configuration's model map.
    pub in_model_map: RenameTime,
    /// A prefix that is dropped once, compared without case.
    pub strip_prefix: Option<&'static str>,
    /// Lowercased old name and new name.
    pub renames: &'static [(&'static str, &'static str)],
    /// Exactly spelled old name and new name.
    pub exact_renames: &'static [(&'static str, &'static str)],
    /// A prefix behind which the renames hold too, such as `google/`; it stays in place.
    pub nested_prefix: Option<&'static str>,
    /// What an id without `/` gets in front, when it starts with the first text, compared without case; that text is
    /// empty for all ids.
    pub bare_prefix: Option<(&'static str, &'static str)>,
}

/// When the renames of a provider hold for the keys of a configuration's model map (chain.md 1.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenameTime {
    /// At once, so that keys of one model are merged.
    Loading,
    /// When a key is looked up.
    Resolving,
}

impl ModelRenames {
    const NONE: Self = Self {
        providers: &[],
        in_model_map: RenameTime::Resolving,
        strip_prefix: None,
        renames: &[],
        exact_renames: &[],
        nested_prefix: None,
        bare_prefix: None,
    };
}

/// Whether the renames of a provider hold for the keys of the model map as soon as it is loaded (chain.md 1.3).
pub fn renamed_when_loaded(provider: &str) -> bool {
    MODEL_RENAMES
        .iter()
        .any(|row| row.in_model_map == RenameTime::Loading && row.providers.contains(&provider))
}

const GOOGLE_RENAMES: &[(&str, &str)] = &[
    ("gemini-3-flash", "gemini-3-flash-preview"),
    ("gemini-3-pro", "gemini-3.1-pro-preview"),
    ("gemini-3-pro-preview", "gemini-3.1-pro-preview"),
    ("gemini-3.1-flash", "gemini-3-flash-preview"),
    ("gemini-3.1-flash-lite-preview", "gemini-3.1-flash-lite"),
    ("gemini-3.1-flash-preview", "gemini-3-flash-preview"),
    ("gemini-3.1-pro", "gemini-3.1-pro-preview"),
    ("gemma-4-26b", "gemma-4-26b-a4b-it"),
];

/// Where a relay keeps Google's models.
const GOOGLE_NESTED: &str = "google/";

/// The shipped renames; the steps of a row run in the order of its columns.
pub static MODEL_RENAMES: &[ModelRenames] = &[
    ModelRenames {
        providers: &["anthropic"],
        strip_prefix: Some("anthropic/"),
        renames: &[
            ("mythos-5", "claude-mythos-5"),
            ("opus", "claude-opus-4-8"),
            ("opus-4.6", "claude-opus-4-6"),
            ("opus-4.8", "claude-opus-4-8"),
            ("sonnet", "claude-sonnet-5"),
            ("sonnet-4.6", "claude-sonnet-4-6"),
            ("sonnet-5", "claude-sonnet-5"),
        ],
        ..ModelRenames::NONE
    },
    ModelRenames {
        providers: &["google", "google-gemini-cli", "google-vertex"],
        in_model_map: RenameTime::Loading,
        renames: GOOGLE_RENAMES,
        nested_prefix: Some(GOOGLE_NESTED),
        ..ModelRenames::NONE
    },
    ModelRenames {
        providers: &["huggingface"],
        strip_prefix: Some("huggingface/"),
        ..ModelRenames::NONE
    },
    ModelRenames {
        providers: &["nvidia"],
        bare_prefix: Some(("", "nvidia/")),
        ..ModelRenames::NONE
    },
    ModelRenames {
        providers: &["openrouter"],
        bare_prefix: Some(("", "openrouter/")),
        ..ModelRenames::NONE
    },
    ModelRenames {
        providers: &["together"],
        in_model_map: RenameTime::Loading,
        exact_renames: &[("moonshotai/Kimi-K2.5", "moonshotai/Kimi-K2.6")],
        ..ModelRenames::NONE
    },
    ModelRenames {
        providers: &["vercel-ai-gateway"],
        renames: &[
            ("opus-4.6", "claude-opus-4-6"),
            ("sonnet", "claude-sonnet-4-6"),
            ("sonnet-4.6", "claude-sonnet-4-6"),
            ("sonnet-5", "claude-sonnet-5"),
        ],
        bare_prefix: Some(("claude-", "anthropic/")),
        ..ModelRenames::NONE
    },
    ModelRenames {
        providers: &["xai"],
        renames: &[
            ("grok-4-1-fast-reasoning", "grok-4-1-fast"),
            ("grok-4-fast-reasoning", "grok-4-fast"),
            (
                "grok-4.20-experimental-beta-0304-non-reasoning",
                "grok-4.20-beta-latest-non-reasoning",
            ),
            (
                "grok-4.20-experimental-beta-0304-reasoning",
                "grok-4.20-beta-latest-reasoning",
            ),
            ("grok-4.20-non-reasoning", "grok-4.20-beta-latest-non-reasoning"),
            ("grok-4.20-reasoning", "grok-4.20-beta-latest-reasoning"),
        ],
        ..ModelRenames::NONE
    },
];

#[cfg(test)]
mod tests;
