//! Questions to the catalogue: the row of a provider, its formats and paths, and what a name stands for.

use openclaw_ids::ProviderId;

use crate::api_format::{API_NAMES, ApiFormat, ApiName, CompatiblePath, DEFAULT_FORMATS};
use crate::catalogue::PROVIDERS;
use crate::provider::{Listing, Provider};

/// The row of a provider by its id; aliases have none.
pub fn provider(id: &ProviderId) -> Option<&'static Provider> {
    by_id(id.as_str())
}

/// The providers with an address, in the order of the chain that is built from found keys.
pub fn with_address() -> impl Iterator<Item = &'static Provider> {
    PROVIDERS.iter().filter(|row| row.base_url.is_some())
}

/// Whether configuration checks accept this name without a row under `models.providers` (chain.md 1.2).
pub fn is_built_in(id: &ProviderId) -> bool {
    let id = id.as_str();
    PROVIDERS
        .iter()
        .any(|row| row.listing == Listing::BuiltIn && (row.id == id || row.aliases.contains(&id)))
}

/// The provider whose command line runs under this name (S-10.2).
pub fn cli_runtime_owner(id: &ProviderId) -> Option<&'static Provider> {
    PROVIDERS
        .iter()
        .find(|row| row.cli_runtimes.contains(&id.as_str()))
}

/// The formats in which requests are passed on to a provider: those of the `api` that its configuration names, also
/// when they are fewer, else those of its id. `api` is empty when none is named.
///
/// ```
/// use openclaw_providers::{ApiFormat, formats};
/// assert!(formats("relay", "anthropic-messages").contains(&ApiFormat::Messages));
/// assert!(!formats("anthropic", "openai-completions").contains(&ApiFormat::Messages));
/// ```
pub fn formats(id: &str, api: &str) -> &'static [ApiFormat] {
    let name = if api.is_empty() { id } else { api };
    match (by_api(name), by_id(name)) {
        (Some(row), _) => row.formats,
        (None, Some(row)) => row.formats,
        (None, None) => DEFAULT_FORMATS,
    }
}

/// The path of OpenAI-compatible requests for a base URL with this `path` that is written for the own format of the
/// provider `id`, or of `api`; `None` when the path is used as it is.
pub fn compatible_path(id: &str, api: &str, path: &str) -> Option<&'static str> {
    let path = path.trim_end_matches('/');
    [id, api]
        .into_iter()
        .filter_map(named_path)
        .find(|row| row.own == path)
        .map(|row| row.compatible)
}

fn named_path(name: &str) -> Option<CompatiblePath> {
    match by_api(name) {
        Some(row) => row.compatible_path,
        None => by_id(name)?.compatible_path,
    }
}

fn by_api(name: &str) -> Option<&'static ApiName> {
    API_NAMES.iter().find(|row| row.name == name)
}

fn by_id(id: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().find(|row| row.id == id)
}

#[cfg(test)]
mod tests;
