//! The providers that can be called: the catalogue, as the configuration changes it, with keys and logins.

pub mod ambient;
mod deadlines;
pub mod discovery;
mod endpoints;
mod logins;
mod secrets;
pub mod wire_support;

use openclaw_chain::ModelsConfig;
use openclaw_ids::ProviderId;
use openclaw_providers::{ApiFormat, Provider, provider, with_address};

pub use deadlines::attempt_deadlines;
pub use endpoints::Endpoints;
pub use endpoints::ProviderError;
pub use endpoints::secret_kind;
pub(crate) use logins::{LoginEndpoints, OAuthConfig};
pub use secrets::SecretSources;
pub(crate) use secrets::{DanglingPointer, UnusableSecret, pointer, secret_text, unusable};

use openclaw_wire::WireFormat;

/// The provider whose models are asked for when nothing is configured.
pub(crate) const OLLAMA: &str = "ollama";

/// The format of requests that an API's format is.
pub(crate) fn wire_format(format: ApiFormat) -> WireFormat {
    match format {
        ApiFormat::ChatCompletions => WireFormat::ChatCompletions,
        ApiFormat::CountTokens => WireFormat::CountTokens,
        ApiFormat::Embeddings => WireFormat::Embeddings,
        ApiFormat::Messages => WireFormat::Messages,
        ApiFormat::Responses => WireFormat::Responses,
    }
}

/// The known providers.
pub(crate) fn shipped() -> impl Iterator<Item = ProviderId> {
    with_address().filter_map(Provider::provider_id)
}

/// The providers that have a row under `models.providers`, in the order of the file.
pub fn configured(models: &ModelsConfig) -> impl Iterator<Item = ProviderId> {
    models
        .providers
        .keys()
        .filter_map(|key| ProviderId::try_new(key).ok())
}

/// The row of a provider that can be called without a configuration.
pub fn known(id: &ProviderId) -> Option<&'static Provider> {
    provider(id).filter(|row| row.base_url.is_some())
}

#[cfg(test)]
mod tests {
    use openclaw_providers::KeyNeed;
    use openclaw_upstream::Endpoint;

    use super::*;

    #[test]
    fn every_row_can_be_called_and_is_there_once() {
        for row in with_address() {
            let id = ProviderId::try_new(row.id).unwrap();
            let endpoint = Endpoint::try_new(id.clone(), row.base_url.unwrap()).unwrap();
            assert_eq!(
                endpoint.is_loopback(),
                row.key_need == KeyNeed::NoKey,
                "{}",
                row.id
            );
            assert_eq!(known(&id), Some(row));
        }
    }
}
