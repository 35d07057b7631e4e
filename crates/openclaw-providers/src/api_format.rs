//! Request formats, which of them a provider takes, and the names that a configuration may give for `api`.

/// A request format of an API, by the path that takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ApiFormat {
    /// OpenAI's `chat/completions`.
    ChatCompletions,
    /// Anthropic's `messages/count_tokens`.
    CountTokens,
    /// OpenAI's `embeddings`.
    Embeddings,
    /// Anthropic's `messages`.
    Messages,
    /// OpenAI's `responses`.
    Responses,
}

/// The path of OpenAI-compatible requests beside that of a provider's own wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompatiblePath {
    /// The path of a base URL that is written for the own format, without a slash at the end.
    pub own: &'static str,
    /// The path that takes OpenAI-compatible requests.
    pub compatible: &'static str,
}

/// The formats of a provider about which nothing else is known.
pub(crate) const DEFAULT_FORMATS: &[ApiFormat] = &[ApiFormat::ChatCompletions, ApiFormat::Embeddings];

/// What is passed on to Anthropic's API.
pub(crate) const ANTHROPIC_FORMATS: &[ApiFormat] = &[
    ApiFormat::ChatCompletions,
    ApiFormat::Messages,
    ApiFormat::CountTokens,
];

/// What is passed on to a provider that takes OpenAI's newer format, too.
pub(crate) const RESPONSES_FORMATS: &[ApiFormat] = &[
    ApiFormat::ChatCompletions,
    ApiFormat::Embeddings,
    ApiFormat::Responses,
];

/// A value of `models.providers.<id>.api`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ApiName {
    pub(crate) name: &'static str,
    /// The formats in which requests are passed on.
    pub(crate) formats: &'static [ApiFormat],
    /// Where the compatible paths are when a base URL is written for this format.
    pub(crate) compatible_path: Option<CompatiblePath>,
}

/// The names whose formats or paths differ from the default.
pub(crate) static API_NAMES: &[ApiName] = &[
    ApiName {
        name: "anthropic-messages",
        formats: ANTHROPIC_FORMATS,
        compatible_path: Some(CompatiblePath {
            own: "",
            compatible: "/v1",
        }),
    },
    ApiName {
        name: "google-generative-ai",
        formats: DEFAULT_FORMATS,
        compatible_path: Some(CompatiblePath {
            own: "/v1beta",
            compatible: "/v1beta/openai",
        }),
    },
    ApiName {
        name: "openai-responses",
        formats: RESPONSES_FORMATS,
        compatible_path: None,
    },
];
