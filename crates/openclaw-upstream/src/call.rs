//! What one attempt sends, and where.

mod headers;

use http::header::HeaderMap;
use openclaw_wire::{RequestBody, WireFormat};
use secrecy::SecretString;

use crate::deadlines::Deadlines;
use crate::endpoint::{Endpoint, SecretKind};

/// What an attempt sends, and where.
pub struct Call<'a> {
    /// The endpoint.
    pub endpoint: &'a Endpoint,
    /// The model, as the provider names it.
    pub model: &'a str,
    /// The key or token; none for providers that need none.
    pub secret: Option<&'a SecretString>,
    /// Whether the secret is a key or a token.
    pub kind: SecretKind,
    /// The format of request and answer.
    pub wire: WireFormat,
    /// The client's headers that belong to the format, passed on as they came.
    pub headers: &'a HeaderMap,
    /// The client's request.
    pub body: &'a RequestBody,
    /// The longest waits.
    pub deadlines: Deadlines,
}

impl Call<'_> {
    /// Whether the answer is to be a stream.
    pub(crate) fn wants_stream(&self) -> bool {
        self.wire.streams() && self.body.wants_stream()
    }
}
