//! Where the token that clients must send comes from: a variable, or the configuration.

use secrecy::SecretString;

use openclaw_config::Environment;
use openclaw_config::{ClientTokenError, Config, GatewayAuthMode};

/// The variable that holds the token clients must send.
pub const TOKEN_VARIABLE: &str = "OPENCLAW_GATEWAY_TOKEN";

/// The variable of the other program for a password, which counts where no token is configured or a password is asked for.
const PASSWORD_VARIABLE: &str = "OPENCLAW_GATEWAY_PASSWORD";

/// The token that clients must send: the variable's, else the configured one.
///
/// # Errors
/// When one is configured that cannot be read; nobody is let in without it then.
pub fn client_token(
    config: &Config,
    environment: &Environment,
) -> Result<Option<SecretString>, ClientTokenError> {
    if let Some(token) = environment.get(TOKEN_VARIABLE) {
        return Ok(Some(token.to_owned().into()));
    }
    let auth = &config.gateway.auth;
    let wants_password = auth.mode == GatewayAuthMode::Password || auth.token.is_none();
    if let Some(password) = environment.get(PASSWORD_VARIABLE).filter(|_| wants_password) {
        return Ok(Some(password.to_owned().into()));
    }
    auth.secret(environment)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn the_variable_of_what_is_asked_for_wins() {
        let (token, password) = ((TOKEN_VARIABLE, "t"), (PASSWORD_VARIABLE, "p"));
        for (variables, auth, expected) in [
            (&[token, password] as &[_], "{}", Some("t")),
            (&[password], "{}", Some("p")),
            (&[password], r#"{ "password": "written" }"#, Some("p")),
            (&[password], r#"{ "mode": "password" }"#, Some("p")),
            (&[password], r#"{ "token": "written" }"#, Some("written")),
            (&[], "{}", None),
        ] {
            let environment = Environment::of(variables.iter().copied(), Path::new("/"));
            let mut config = Config::default();
            config.gateway.auth = serde_json::from_str(auth).unwrap();
            let found = client_token(&config, &environment).unwrap();
            let found = found.as_ref().map(ExposeSecret::expose_secret);
            assert_eq!(found, expected, "{variables:?} {auth}");
        }
    }
}
