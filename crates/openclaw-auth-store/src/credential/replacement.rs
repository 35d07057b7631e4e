//! What a new credential takes over from the one it replaces (auth-store.md C2, C3).

use super::{ApiKey, Attributes, Credential, KeySource, Oauth, Token};
use crate::Secret;

impl Credential {
    /// Cleans pasted secrets (C2).
    pub(crate) fn cleaned(mut self) -> Self {
        match &mut self {
            Self::ApiKey(ApiKey { key, .. }) => {
                if let Some(KeySource::Inline(secret)) = key {
                    *key = Secret::pasted(secret.expose()).map(KeySource::Inline);
                }
            }
            Self::Token(Token { token, .. }) => {
                *token = token.take().and_then(|secret| Secret::pasted(secret.expose()));
            }
            Self::Local(_) | Self::Oauth(_) => {}
        }
        self
    }

    /// Keeps what the replaced credential of the same type and provider has and this one lacks: unknown members (D13)
    /// and a login's older reference, unless the new tokens make it worthless (C3).
    pub(crate) fn inheriting(mut self, old: &Self) -> Self {
        if self.provider() != old.provider() {
            return self;
        }
        match (&mut self, old) {
            (Self::ApiKey(new), Self::ApiKey(old)) => new.attributes.inherit(&old.attributes),
            (Self::Oauth(new), Self::Oauth(old)) => {
                new.attributes.inherit(&old.attributes);
                if new.oauth_ref.is_none() && new.keeps_tokens_of(old) {
                    new.oauth_ref.clone_from(&old.oauth_ref);
                }
            }
            (Self::Token(new), Self::Token(old)) => new.attributes.inherit(&old.attributes),
            (Self::ApiKey(_) | Self::Local(_) | Self::Oauth(_) | Self::Token(_), _) => {}
        }
        self
    }
}

impl Attributes {
    fn inherit(&mut self, old: &Self) {
        for (name, value) in &old.unknown {
            self.unknown.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
}

impl Oauth {
    fn keeps_tokens_of(&self, old: &Self) -> bool {
        let pairs = [
            (&self.access, &old.access),
            (&self.refresh, &old.refresh),
            (&self.id_token, &old.id_token),
        ];
        pairs.into_iter().all(|(new, old)| new.is_none() || new == old)
    }
}
