//! `models.providers`: endpoints, their keys and their model rows (chain.md 1.2).

use std::time::Duration;

use indexmap::IndexMap;
use openclaw_ids::{ProviderId, lowercased};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Deserialize, Error, MapAccess};

use super::secret::SecretValue;
use super::shape::{Count, Flag, List, MapOf, Mode, Object, Seconds, Shape, Text, object};

/// The `models` section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelsConfig {
    /// Provider rows under the key as written, in file order.
    pub providers: IndexMap<String, ProviderConfig>,
}

impl ModelsConfig {
    /// The row of a provider: keys are compared trimmed and lowercased, the first match wins (V4).
    pub fn provider(&self, id: &ProviderId) -> Option<&ProviderConfig> {
        self.providers
            .iter()
            .find(|(key, _)| lowercased(key.trim()) == id.as_str())
            .map(|(_, row)| row)
    }
}

object!(ModelsConfig, "an object such as { providers: { … } }", self fields {
    "providers" => {
        let rows = MapOf(
            Object::<ProviderConfig>::new(),
            "an object with one entry per provider, such as { local: { baseUrl: \"http://127.0.0.1:8080/v1\", models: [] } }",
        );
        self.providers = fields.value_or_default(rows)?;
    }
});

/// One provider row.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProviderConfig {
    /// Where requests go.
    pub base_url: Option<String>,
    /// A key, or a reference to one, as written.
    pub api_key: Option<SecretValue>,
    /// Which kind of credential the provider takes.
    pub auth: Option<AuthMode>,
    /// The wire format, such as `openai-completions`.
    pub api: Option<String>,
    /// Extra request headers, in the order written.
    pub headers: IndexMap<String, SecretValue>,
    /// How long one request may take (`timeoutSeconds`).
    pub timeout: Option<Duration>,
    /// The context window of models whose row does not say.
    pub context_window: Option<u64>,
    /// The usable part of the context window of models whose row does not say.
    pub context_tokens: Option<u64>,
    /// The models the provider serves.
    pub models: Vec<ModelRow>,
}

impl std::fmt::Debug for ProviderConfig {
    /// An address may carry a password or a key, so only its scheme, host and path are shown.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProviderConfig")
            .field("base_url", &self.base_url.as_deref().map(without_secrets))
            .field("api_key", &self.api_key)
            .field("auth", &self.auth)
            .field("api", &self.api)
            .field("headers", &self.headers)
            .field("timeout", &self.timeout)
            .field("context_window", &self.context_window)
            .field("context_tokens", &self.context_tokens)
            .field("models", &self.models)
            .finish()
    }
}

/// An address without its user and password and without its query and fragment.
fn without_secrets(url: &str) -> String {
    let shown = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = shown.split_once("://").unwrap_or(("", shown));
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    if scheme.is_empty() {
        return format!("{host}{path}");
    }
    format!("{scheme}://{host}{path}")
}

object!(ProviderConfig, "a provider object such as { baseUrl: \"http://127.0.0.1:8080/v1\", api: \"openai-completions\", models: [] }", self fields {
    "baseUrl" => self.base_url = fields.value(Text("a URL such as \"https://api.example.com/v1\""))?,
    "apiKey" => self.api_key = fields.value(Secret(
        "a key as text, or a reference such as { source: \"env\", provider: \"default\", id: \"MY_API_KEY\" }",
    ))?,
    "auth" => self.auth = fields.value(Auth)?,
    "api" => self.api = fields.value(Text("the name of a wire format such as \"openai-completions\""))?,
    "headers" => {
        let value = Secret("a header value such as \"ops\", or a reference such as { source: \"env\", provider: \"default\", id: \"MY_TOKEN\" }");
        let headers = MapOf(value, "an object of header names and values such as { \"x-team\": \"ops\" }");
        self.headers = fields.value_or_default(headers)?;
    }
    "timeoutSeconds" => self.timeout = fields.value(Seconds("a number of seconds above 0, such as 120"))?,
    "contextWindow" => self.context_window = fields.value(TOKENS)?,
    "contextTokens" => self.context_tokens = fields.value(TOKENS)?,
    "models" => {
        let rows = List(
            Object::<ModelRow>::new(),
            "a list of model rows such as [{ id: \"llama-3.3\", name: \"Llama 3.3\" }]",
        );
        self.models = fields.value_or_default(rows)?;
    }
});

const TOKENS: Count = Count("a whole number of tokens above 0, such as 200000");

/// One model of a provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelRow {
    /// The id the provider knows the model by.
    pub id: String,
    /// The name shown to people.
    pub name: Option<String>,
    /// The context window in tokens.
    pub context_window: Option<u64>,
    /// The usable part of the context window in tokens.
    pub context_tokens: Option<u64>,
    /// What the model takes in: `text`, `image`, `video`, `audio`.
    pub input: Vec<String>,
    /// Whether the model calls tools (`compat.supportsTools`).
    pub supports_tools: Option<bool>,
}

impl ModelRow {
    /// Whether the model takes images.
    pub(crate) fn takes_images(&self) -> bool {
        self.input.iter().any(|kind| kind == "image")
    }
}

object!(ModelRow, "a model row such as { id: \"llama-3.3\", name: \"Llama 3.3\" }", self fields {
    "id" => self.id = fields.value_or_default(Text("a model id such as \"llama-3.3\""))?,
    "name" => self.name = fields.value(Text("a name for people such as \"Llama 3.3\""))?,
    "contextWindow" => self.context_window = fields.value(TOKENS)?,
    "contextTokens" => self.context_tokens = fields.value(TOKENS)?,
    "input" => {
        let kinds = List(
            Text("one of \"text\", \"image\", \"video\", \"audio\""),
            "a list such as [\"text\", \"image\"]",
        );
        self.input = fields.value_or_default(kinds)?;
    }
    "compat" => {
        let compat = fields.value_or_default(Object::<Compat>::new())?;
        self.supports_tools = compat.supports_tools;
    }
});

/// `compat` of a model row, as far as it is read.
#[derive(Default)]
struct Compat {
    supports_tools: Option<bool>,
}

object!(Compat, "an object such as { supportsTools: false }", self fields {
    "supportsTools" => self.supports_tools = fields.value(Flag("true or false"))?,
});

/// Which kind of credential a provider row says it takes; written with hyphens, unlike the modes of profiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthMode {
    /// `api-key`
    ApiKey,
    /// `aws-sdk`: the host's own AWS credentials.
    AwsSdk,
    /// `oauth`
    Oauth,
    /// `token`
    Token,
}

/// How each mode is written.
const AUTH_MODES: &[(&str, AuthMode)] = &[
    ("api-key", AuthMode::ApiKey),
    ("aws-sdk", AuthMode::AwsSdk),
    ("oauth", AuthMode::Oauth),
    ("token", AuthMode::Token),
];

#[derive(Clone, Copy)]
struct Auth;

impl Shape for Auth {
    type Value = AuthMode;

    fn describe(&self) -> &'static str {
        "one of \"api-key\", \"aws-sdk\", \"oauth\", \"token\""
    }

    fn text<E: Error>(self, text: &str) -> Result<AuthMode, E> {
        let known = AUTH_MODES.iter().find(|(written, _)| *written == text);
        // A key pasted here must not be quoted, so only another spelling of a mode is.
        let letters = |text: &str| text.replace(['-', '_', ' '], "").to_lowercase();
        let misspelled = AUTH_MODES
            .iter()
            .any(|(written, _)| letters(written) == letters(text));
        match known {
            Some((_, mode)) => Ok(*mode),
            None if misspelled => Err(self.wrong(&format!("\"{text}\""))),
            None => Err(self.wrong("another text")),
        }
    }
}

/// A text or an object that may be, or name, a secret.
#[derive(Clone, Copy)]
struct Secret(&'static str);

impl Shape for Secret {
    type Value = SecretValue;

    fn describe(&self) -> &'static str {
        self.0
    }

    /// A number may be a key as well.
    fn wrong_number<E: Error>(&self, _number: impl std::fmt::Display) -> E {
        self.wrong("a number")
    }

    fn text<E: Error>(self, text: &str) -> Result<SecretValue, E> {
        serde_json::Value::deserialize(StrDeserializer::new(text)).map(SecretValue::new)
    }

    fn object<'de, A: MapAccess<'de>>(self, object: A, _mode: Mode) -> Result<SecretValue, A::Error> {
        serde_json::Value::deserialize(MapAccessDeserializer::new(object)).map(SecretValue::new)
    }
}
