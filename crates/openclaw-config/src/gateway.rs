//! `gateway`: the token that clients send (`gateway.auth.token`, else `gateway.auth.password`).

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use crate::environment::Environment;

/// The keys of the `gateway` section that this crate reads.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, expecting = "an object such as { auth: { token: \"…\" } }")]
pub struct GatewayConfig {
    /// How clients authenticate.
    pub auth: GatewayAuthConfig,
}

/// The `gateway.auth` section.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, expecting = "an object such as { token: \"…\" }")]
pub struct GatewayAuthConfig {
    /// The token itself, or where it is.
    pub token: Option<ClientToken>,
    /// The password that OpenClaw's clients send; the gateway takes it as a bearer token.
    pub password: Option<ClientToken>,
    /// Which of the two counts when both are set.
    pub mode: GatewayAuthMode,
}

/// How OpenClaw's clients authenticate (`gateway.auth.mode`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GatewayAuthMode {
    /// By the password.
    Password,
    /// By the token; an unknown mode also requires the token.
    #[default]
    #[serde(other)]
    Token,
}

/// A token, or the variable that holds it.
#[derive(Debug, Clone, Deserialize)]
pub struct ClientToken(TokenSource);

#[derive(Debug, Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "a token, \"${NAME}\" or { source: \"env\", id: \"NAME\" }"
)]
enum TokenSource {
    /// As written; `${NAME}` stands for a variable.
    Text(SecretString),
    /// A pointer to a variable.
    Variable(VariableRef),
}

/// A pointer to a variable.
#[derive(Debug, Clone, Deserialize)]
struct VariableRef {
    source: Source,
    id: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Source {
    Env,
}

/// The configured token cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientTokenError {
    /// It is blank.
    #[error("`gateway.auth.{0}` is blank; write one there, or leave it out")]
    Blank(&'static str),
    /// The variable it names is not set.
    #[error(
        "`gateway.auth.{member}` names the variable `{variable}`, which is not set; set it, or write the {member} itself"
    )]
    NotSet {
        /// The member that names it.
        member: &'static str,
        /// Its name.
        variable: String,
    },
    /// The mode requires a password, and none is set.
    #[error(
        "`gateway.auth.mode` is `password`, and there is none; set `gateway.auth.password`, or leave the mode out"
    )]
    NoPassword,
}

impl GatewayAuthConfig {
    /// The secret that clients must send, looked up where it is stored.
    ///
    /// # Errors
    /// When the required secret is blank or missing: without this error, every client would have access.
    pub fn secret(&self, environment: &Environment) -> Result<Option<SecretString>, ClientTokenError> {
        let token = self.token.as_ref().map(|token| ("token", token));
        let password = self.password.as_ref().map(|password| ("password", password));
        let required = match self.mode {
            GatewayAuthMode::Password => Some(password.ok_or(ClientTokenError::NoPassword)?),
            GatewayAuthMode::Token => token.or(password),
        };
        required
            .map(|(member, secret)| secret.resolve(member, environment))
            .transpose()
    }
}

impl ClientToken {
    fn resolve(
        &self,
        member: &'static str,
        environment: &Environment,
    ) -> Result<SecretString, ClientTokenError> {
        let variable = match &self.0 {
            TokenSource::Variable(VariableRef {
                source: Source::Env,
                id,
            }) => id,
            TokenSource::Text(text) => {
                let text = text.expose_secret().trim();
                match text.strip_prefix("${").and_then(|text| text.strip_suffix('}')) {
                    Some(name) => name,
                    None if text.is_empty() => return Err(ClientTokenError::Blank(member)),
                    None => return Ok(text.to_owned().into()),
                }
            }
        };
        let value = environment.get(variable);
        value
            .map(|value| value.to_owned().into())
            // The token itself may have been put between the braces.
            .ok_or_else(|| ClientTokenError::NotSet {
                member,
                variable: variable_name(variable),
            })
    }
}

/// A variable's name for messages; a text that is no name may be a secret and is not repeated.
fn variable_name(text: &str) -> String {
    let is_name = text
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let name = if is_name && text.len() <= LONGEST_NAME {
        text
    } else {
        "…"
    };
    name.to_owned()
}

/// The longest text that counts as the name of a variable, in bytes.
const LONGEST_NAME: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn not_set(member: &'static str, variable: &str) -> ClientTokenError {
        ClientTokenError::NotSet {
            member,
            variable: variable.to_owned(),
        }
    }

    #[test]
    fn what_clients_send_is_read_where_it_is() {
        let environment = Environment::of([("CLIENTS", "s3cret")], std::path::Path::new("/"));
        for (written, expected) in [
            (r#"{"token": "plain"}"#, Ok(Some("plain"))),
            (r#"{"token": "${CLIENTS}"}"#, Ok(Some("s3cret"))),
            (
                r#"{"token": { "source": "env", "id": "CLIENTS" }}"#,
                Ok(Some("s3cret")),
            ),
            (r#"{"token": "${GONE}"}"#, Err(not_set("token", "GONE"))),
            (r#"{"token": "${s3cret-token}"}"#, Err(not_set("token", "…"))),
            (r#"{"token": " "}"#, Err(ClientTokenError::Blank("token"))),
            (r#"{"mode": "password", "password": "plain"}"#, Ok(Some("plain"))),
            (r#"{"password": "${CLIENTS}"}"#, Ok(Some("s3cret"))),
            (r#"{"password": "${GONE}"}"#, Err(not_set("password", "GONE"))),
            (
                r#"{"mode": "password", "password": "plain", "token": "other"}"#,
                Ok(Some("plain")),
            ),
            (
                r#"{"mode": "token", "password": "other", "token": "plain"}"#,
                Ok(Some("plain")),
            ),
            (
                r#"{"mode": "trusted-proxy", "token": "plain"}"#,
                Ok(Some("plain")),
            ),
            (
                r#"{"mode": "password", "token": "other"}"#,
                Err(ClientTokenError::NoPassword),
            ),
            ("{}", Ok(None)),
        ] {
            let auth: GatewayAuthConfig = serde_json::from_str(written).unwrap();
            let read = auth.secret(&environment);
            let read = read
                .as_ref()
                .map(|secret| secret.as_ref().map(ExposeSecret::expose_secret))
                .map_err(Clone::clone);
            assert_eq!(read, expected, "{written}");
            assert!(!format!("{auth:?}").contains("plain"), "{auth:?}");
        }
        assert!(serde_json::from_str::<ClientToken>("7").is_err());
    }
}
