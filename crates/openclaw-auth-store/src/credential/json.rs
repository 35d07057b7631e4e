//! Writes a credential as a stored entry (auth-store.md 4.1, 4.3).

use serde_json::{Map, Value};

use super::{ApiKey, Attributes, Credential, Expiry, KeySource, Oauth, Token};
use crate::Secret;

impl Credential {
    /// The entry to store, secrets included; `None` for what is never stored ([`Local`](super::Local)).
    ///
    /// A token beside a reference is left out (C1); members of the same name as a known one never come from the
    /// unknown ones.
    pub fn to_json(&self) -> Option<Value> {
        let mut entry = Members(Map::new());
        entry.text("type", Some(self.mode()));
        entry.text("provider", Some(self.provider().as_str()));
        let attributes = match self {
            Self::ApiKey(key) => entry.api_key(key),
            Self::Local(_) => return None,
            Self::Oauth(oauth) => entry.oauth(oauth),
            Self::Token(token) => entry.token(token),
        };
        entry.attributes(attributes);
        Some(Value::Object(entry.0))
    }
}

struct Members(Map<String, Value>);

impl Members {
    fn put(&mut self, name: &str, value: Option<Value>) {
        if let Some(value) = value {
            self.0.insert(name.to_owned(), value);
        }
    }

    fn text(&mut self, name: &str, text: Option<&str>) {
        self.put(name, text.map(Value::from));
    }

    fn secret(&mut self, name: &str, secret: Option<&Secret>) {
        self.text(name, secret.map(Secret::expose));
    }

    fn expires(&mut self, expires: Option<Expiry>) {
        let millisecond = expires.map(|expires| match expires {
            Expiry::At(millisecond) => millisecond,
            // Zero reads back as invalid, never as "no end" (4.2 rule 8).
            Expiry::Invalid => 0,
        });
        self.put("expires", millisecond.map(Value::from));
    }

    fn api_key<'c>(&mut self, key: &'c ApiKey) -> &'c Attributes {
        match &key.key {
            Some(KeySource::Inline(secret)) => self.secret("key", Some(secret)),
            Some(KeySource::Reference(pointer)) => self.put("keyRef", Some(pointer.to_json())),
            None => {}
        }
        if !key.metadata.is_empty() {
            let metadata = key.metadata.iter();
            let members = metadata.map(|(name, value)| (name.clone(), Value::from(value.as_str())));
            self.put("metadata", Some(Value::Object(members.collect())));
        }
        &key.attributes
    }

    fn token<'c>(&mut self, token: &'c Token) -> &'c Attributes {
        match &token.token_ref {
            Some(pointer) => self.put("tokenRef", Some(pointer.to_json())),
            None => self.secret("token", token.token.as_ref()),
        }
        self.expires(token.expires);
        &token.attributes
    }

    fn oauth<'c>(&mut self, oauth: &'c Oauth) -> &'c Attributes {
        self.secret("access", oauth.access.as_ref());
        self.secret("refresh", oauth.refresh.as_ref());
        self.secret("idToken", oauth.id_token.as_ref());
        self.expires(oauth.expires);
        self.text("accountId", oauth.account_id.as_deref());
        self.text("chatgptPlanType", oauth.chatgpt_plan_type.as_deref());
        self.text("clientId", oauth.client_id.as_deref());
        self.text("enterpriseUrl", oauth.enterprise_url.as_deref());
        self.text("projectId", oauth.project_id.as_deref());
        self.put("oauthRef", oauth.oauth_ref.clone().map(Value::Object));
        &oauth.attributes
    }

    fn attributes(&mut self, attributes: &Attributes) {
        self.text("email", attributes.email.as_deref());
        self.text("displayName", attributes.display_name.as_deref());
        self.put("copyToAgents", attributes.copy_to_agents.map(Value::from));
        for (name, value) in &attributes.unknown {
            self.0.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
}
