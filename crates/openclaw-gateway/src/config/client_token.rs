//! The token that clients send, where the configuration gives one (`gateway.auth.token`).

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use crate::environment::Environment;

/// The `gateway` section, as far as it is read here.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, expecting = "an object such as { auth: { token: \"…\" } }")]
pub struct GatewayConfig {
    /// How clients show who they are.
    pub auth: GatewayAuthConfig,
}

/// The `gateway.auth` section.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, expecting = "an object such as { token: \"…\" }")]
pub struct GatewayAuthConfig {
    /// The token itself, or where it is.
    pub token: Option<ClientToken>,
}

/// A token, or the variable that holds it.
#[derive(Debug, Clone, Deserialize)]
pub struct ClientToken(Written);

#[derive(Debug, Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "a token, \"${NAME}\" or { source: \"env\", id: \"NAME\" }"
)]
enum Written {
    /// As written; `${NAME}` stands for a variable.
    Text(SecretString),
    /// A pointer to a variable.
    Variable(Pointer),
}

/// A pointer to a variable.
#[derive(Debug, Clone, Deserialize)]
struct Pointer {
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
    #[error("`gateway.auth.token` is blank; write a token there, or leave it out")]
    Blank,
    /// The variable it names is not set.
    #[error(
        "`gateway.auth.token` names the variable `{0}`, which is not set; set it, or write the token itself"
    )]
    NotSet(String),
}

impl ClientToken {
    /// The token, read where it is.
    ///
    /// # Errors
    /// When there is none, so that nobody is let in who should not be.
    pub(crate) fn resolve(&self, environment: &Environment) -> Result<SecretString, ClientTokenError> {
        let variable = match &self.0 {
            Written::Variable(Pointer {
                source: Source::Env,
                id,
            }) => id,
            Written::Text(text) => {
                let text = text.expose_secret().trim();
                match text.strip_prefix("${").and_then(|text| text.strip_suffix('}')) {
                    Some(name) => name,
                    None if text.is_empty() => return Err(ClientTokenError::Blank),
                    None => return Ok(text.to_owned().into()),
                }
            }
        };
        let value = environment.get(variable);
        value
            .map(|value| value.to_owned().into())
            // The token itself may have been put between the braces.
            .ok_or_else(|| ClientTokenError::NotSet(variable_name(variable)))
    }
}

/// A variable's name for people; what could be none is not repeated.
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

/// Longer texts are no names of variables that people give.
const LONGEST_NAME: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_where_it_is() {
        let environment = Environment::of([("CLIENTS", "s3cret")], std::path::Path::new("/"));
        for (written, expected) in [
            (r#""plain""#, Ok("plain")),
            (r#""${CLIENTS}""#, Ok("s3cret")),
            (r#"{ "source": "env", "id": "CLIENTS" }"#, Ok("s3cret")),
            (r#""${GONE}""#, Err(ClientTokenError::NotSet("GONE".to_owned()))),
            (
                r#""${s3cret-token}""#,
                Err(ClientTokenError::NotSet("…".to_owned())),
            ),
            (r#"" ""#, Err(ClientTokenError::Blank)),
        ] {
            let token: ClientToken = serde_json::from_str(written).unwrap();
            let read = token.resolve(&environment);
            let read = read
                .as_ref()
                .map(ExposeSecret::expose_secret)
                .map_err(Clone::clone);
            assert_eq!(read, expected, "{written}");
            assert!(!format!("{token:?}").contains("plain"), "{token:?}");
        }
        assert!(serde_json::from_str::<ClientToken>("7").is_err());
    }
}
