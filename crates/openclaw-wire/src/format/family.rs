//! The APIs that formats belong to: where keys and versions go in headers, and the shape of an error.

use serde_json::{Value, json};

/// The API of a vendor, which others copy. Its formats share headers and errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApiFamily {
    /// Anthropic's.
    Anthropic,
    /// OpenAI's.
    OpenAi,
}

/// A header, by its lowercase name.
type Header = (&'static str, &'static str);

/// What is the same in all formats of a family.
struct FamilyRow {
    /// The header of a key; none where keys are bearer tokens.
    key_header: Option<&'static str>,
    /// Headers of a request, unless its client sends its own.
    defaults: &'static [Header],
    /// Headers that are added to a request with the token of a login.
    with_login: &'static [Header],
    /// Headers of clients that are passed on as they came.
    forwarded: &'static [&'static str],
    /// An error object as the body of an answer with a status.
    error_body: fn(u16, &Value) -> Value,
}

static ANTHROPIC: FamilyRow = FamilyRow {
    key_header: Some("x-api-key"),
    defaults: &[("anthropic-version", "2023-06-01")],
    with_login: &[("anthropic-beta", "oauth-2025-04-20")],
    forwarded: &["anthropic-beta", "anthropic-version"],
    error_body: |status, error| {
        let row = ANTHROPIC_TYPES.iter().find(|(own, _)| *own == status);
        anthropic(row.map_or(ANTHROPIC_OTHER, |(_, kind)| kind), error)
    },
};

static OPENAI: FamilyRow = FamilyRow {
    key_header: None,
    defaults: &[],
    with_login: &[],
    forwarded: &[],
    error_body: |_, error| json!({ "error": error }),
};

impl ApiFamily {
    fn row(self) -> &'static FamilyRow {
        match self {
            Self::Anthropic => &ANTHROPIC,
            Self::OpenAi => &OPENAI,
        }
    }

    /// The lowercase name of the header of a key; none where keys are bearer tokens, as tokens of logins are everywhere.
    pub fn key_header(self) -> Option<&'static str> {
        self.row().key_header
    }

    /// Lowercase names and values of the headers of a request, unless its client sends its own.
    pub fn default_headers(self) -> &'static [(&'static str, &'static str)] {
        self.row().defaults
    }

    /// Lowercase names and values of the headers that are added to a request with the token of a login.
    pub fn login_headers(self) -> &'static [(&'static str, &'static str)] {
        self.row().with_login
    }

    /// Lowercase names of the headers of clients that are passed on as they came.
    pub fn forwarded_headers(self) -> &'static [&'static str] {
        self.row().forwarded
    }

    /// An error object as the body of an answer with `status`.
    pub fn error_body(self, status: u16, error: &Value) -> Value {
        (self.row().error_body)(status, error)
    }
}

/// Anthropic's type of an error, by status; other statuses are `api_error`.
#[rustfmt::skip]
const ANTHROPIC_TYPES: &[(u16, &str)] = &[
    (400, "invalid_request_error"),
    (401, "authentication_error"),
    (402, "billing_error"),
    (403, "permission_error"),
    (404, "not_found_error"),
    (405, "invalid_request_error"),
    (408, "invalid_request_error"),
    (413, "request_too_large"),
    (415, "invalid_request_error"),
    (429, "rate_limit_error"),
    (503, "overloaded_error"),
];
const ANTHROPIC_OTHER: &str = "api_error";

/// An error object that has no status of its own.
pub(super) fn anthropic_error(error: &Value) -> Value {
    anthropic(ANTHROPIC_OTHER, error)
}

fn anthropic(kind: &str, error: &Value) -> Value {
    let mut object = error.clone();
    if let Some(members) = object.as_object_mut() {
        members.insert("type".to_owned(), kind.into());
        members.shift_remove("param");
    }
    json!({ "type": "error", "error": object })
}
