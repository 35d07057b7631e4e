//! The logins that are known: where each is used, in which formats, and where it is refreshed.

use crate::api_format::ApiFormat;

/// How the logins of a provider's users are used, unless a configuration says otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// Where a login is used; `None` where the provider's keys are.
    pub base_url: Option<&'static str>,
    /// The formats that are answered to a login.
    pub formats: &'static [ApiFormat],
    /// Headers that name the calling program: name and value.
    pub headers: &'static [(&'static str, &'static str)],
    /// The header that carries the account id, where one is required.
    pub account_header: Option<&'static str>,
    /// What a static token of the provider is used as.
    pub static_token: StaticToken,
    /// Where a login is refreshed.
    pub token_url: &'static str,
    /// The form of the refresh request.
    pub token_encoding: TokenEncoding,
    /// The public OAuth client that logs in.
    pub client_id: &'static str,
    /// Where the use of limits is read.
    pub usage_url: Option<&'static str>,
}

/// What a static token is used as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StaticToken {
    /// A key: at the provider's base URL, in all its formats.
    Key,
    /// A login that is never refreshed.
    Login,
}

/// How the request that refreshes a login is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenEncoding {
    /// As a form, the way of RFC 6749.
    Form,
    /// As a JSON object.
    Json,
}

pub(crate) const ANTHROPIC: Login = Login {
    base_url: None,
    formats: &[ApiFormat::Messages, ApiFormat::CountTokens],
    headers: &[],
    account_header: None,
    static_token: StaticToken::Login,
    token_url: "https://console.anthropic.com/v1/oauth/token",
    token_encoding: TokenEncoding::Json,
    client_id: "9d1c250a-e61b-44d9-88ed-5944d1962f5e",
    usage_url: None,
};

pub(crate) const OPENAI: Login = Login {
    base_url: Some("https://chatgpt.com/backend-api/codex"),
    formats: &[ApiFormat::Responses],
    headers: &[
        ("originator", "openclaw"),
        ("openai-beta", "responses=experimental"),
    ],
    account_header: Some("chatgpt-account-id"),
    static_token: StaticToken::Key,
    token_url: "https://auth.openai.com/oauth/token",
    token_encoding: TokenEncoding::Form,
    client_id: "app_EMoamEEZ73f0CkXaXp7hrann",
    usage_url: Some("https://chatgpt.com/backend-api/wham/usage"),
};
