//! The names of wire formats that a configuration may give for `api`, as far as they differ from the default.

use crate::catalogue::{ANTHROPIC_FORMATS, RESPONSES_FORMATS};
use crate::provider::{ApiFormat, CompatiblePath, DEFAULT_FORMATS};

/// A value of `models.providers.<id>.api`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ApiName {
    pub(crate) name: &'static str,
    /// The formats in which requests are passed on.
    pub(crate) formats: &'static [ApiFormat],
    /// Where the compatible paths are when a base URL is written for this format.
    pub(crate) compatible_path: Option<CompatiblePath>,
}

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
