//! Ambient profiles: credentials of the configuration and the environment that are never stored (X-4).

use openclaw_auth_store::{AmbientProfile, Credential, Secret, SecretRef};
use openclaw_chain::ModelsConfig;
use openclaw_config::Environment;
use openclaw_ids::{ProfileId, ProviderId};
use openclaw_providers::{KeyNeed, Provider, with_address};
use serde_json::json;

use super::secrets::{lasting_pointer, secret_text};
use super::{Endpoints, known, shipped};
use crate::providers::SecretSources;

/// The name of the profile whose key is written in `models.providers`.
const FROM_CONFIG: &str = "config";

/// The name of the profile whose key is in a variable.
const FROM_ENVIRONMENT: &str = "env";

/// Whether an ambient profile's key is written in `models.providers`.
pub(crate) fn is_from_config(id: &ProfileId) -> bool {
    has_name(id, FROM_CONFIG)
}

/// Whether an ambient profile's key is in a variable.
pub(crate) fn is_from_environment(id: &ProfileId) -> bool {
    has_name(id, FROM_ENVIRONMENT)
}

fn has_name(id: &ProfileId, name: &str) -> bool {
    id.as_str().rsplit_once(':').is_some_and(|(_, own)| own == name)
}

/// The profiles of this process: a key in `models.providers`, a standard key variable, and `local` for providers that
/// need no key. Each provider's are in this order.
pub fn profiles(
    models: &ModelsConfig,
    endpoints: &Endpoints,
    sources: &SecretSources,
    environment: &Environment,
) -> Vec<AmbientProfile> {
    let configured = models.providers.iter().filter_map(|(id, row)| {
        let provider = ProviderId::try_new(id).ok()?;
        let written = row.api_key.as_ref()?;
        let credential = match lasting_pointer(written, sources) {
            Some(pointer) => pointing(&provider, &pointer)?,
            None => Credential::api_key(provider.clone(), Secret::new(secret_text(written, sources).ok()?)),
        };
        profile(&provider, FROM_CONFIG, credential)
    });
    let from_environment = with_address().filter_map(|row| {
        let provider = row.provider_id()?;
        let (_, key) = key_variable(row, environment)?;
        profile(
            &provider,
            FROM_ENVIRONMENT,
            Credential::api_key(provider.clone(), Secret::new(key)),
        )
    });
    let mut local: Vec<ProviderId> = shipped()
        .chain(super::configured(models))
        .filter(|id| needs_no_key(id, models, endpoints))
        .collect();
    local.sort_unstable();
    local.dedup();
    let local = local
        .iter()
        .filter_map(|id| profile(id, "local", Credential::local(id.clone())));
    configured.chain(from_environment).chain(local).collect()
}

/// A credential whose pointer is followed at each use.
fn pointing(provider: &ProviderId, pointer: &SecretRef) -> Option<Credential> {
    let entry = json!({"type": "api_key", "provider": provider.as_str(), "keyRef": pointer.to_json()});
    Credential::from_json(&entry).ok()
}

/// The variable that holds a provider's key, and the key.
pub(crate) fn key_variable<'e>(
    row: &Provider,
    environment: &'e Environment,
) -> Option<(&'static str, &'e str)> {
    row.key_variables
        .iter()
        .find_map(|name| Some((*name, environment.get(name)?)))
}

/// Whether calls without a key are worth making: no key is configured, and the provider is known to need none, runs on
/// this machine, or is let in by headers of its own.
fn needs_no_key(provider: &ProviderId, models: &ModelsConfig, endpoints: &Endpoints) -> bool {
    let row = models.provider(provider);
    if row.is_some_and(|row| row.api_key.is_some()) {
        return false;
    }
    match known(provider) {
        Some(known) => known.key_need == KeyNeed::NoKey,
        None => endpoints
            .get(provider)
            .is_some_and(|endpoint| endpoint.is_loopback() || !endpoint.headers().is_empty()),
    }
}

fn profile(provider: &ProviderId, name: &str, credential: Credential) -> Option<AmbientProfile> {
    let id = ProfileId::compose(provider.as_str(), name).ok()?;
    Some(AmbientProfile { id, credential })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use openclaw_auth_store::resolve_secret;
    use secrecy::ExposeSecret;

    use super::*;
    use openclaw_config::Config;

    #[test]
    fn x_4_keys_of_the_configuration_and_of_the_environment_and_providers_without_one() {
        let config = Config::parse(
            Path::new("/c"),
            "{ models: { providers: {
                 openai: { apiKey: 'sk-config' },
                 relay: { baseUrl: 'https://relay.example/v1', apiKey: { source: 'env', id: 'RELAY_KEY' } },
                 unset: { baseUrl: 'https://unset.example/v1', apiKey: '$NOT_SET' },
                 here: { baseUrl: 'http://127.0.0.1:9/v1' },
                 keyed: { baseUrl: 'https://keyed.example/v1', headers: { 'api-key': 'k' } },
                 closed: { baseUrl: 'https://closed.example/v1' },
                 ollama: { baseUrl: 'http://10.0.0.7:11434/v1' } } } }",
        )
        .unwrap();
        let variables = [
            ("OPENAI_API_KEY", "sk-env"),
            ("RELAY_KEY", "r"),
            ("GOOGLE_API_KEY", "g"),
            ("GEMINI_API_KEY", " "),
        ];
        let environment = Environment::of(variables, Path::new("/"));
        let sources = SecretSources::new(&config.secrets, &environment);
        let endpoints = Endpoints::try_new(&config.chain.models, &sources).unwrap();
        let found = profiles(&config.chain.models, &endpoints, &sources, &environment);
        let shown: Vec<(String, Option<String>)> = found
            .iter()
            .map(|profile| {
                let secret = resolve_secret(&profile.credential, &|_| None).unwrap();
                (
                    profile.id.to_string(),
                    secret.map(|secret| secret.expose_secret().to_owned()),
                )
            })
            .collect();
        let own = |id: &str, key: Option<&str>| (id.to_owned(), key.map(str::to_owned));
        assert_eq!(
            shown,
            [
                own("openai:config", Some("sk-config")),
                own("relay:config", Some("r")),
                own("openai:env", Some("sk-env")),
                own("google:env", Some("g")),
                own("here:local", None),
                own("keyed:local", None),
                own("lmstudio:local", None),
                own("ollama:local", None),
                own("vllm:local", None),
            ]
        );
    }
}
