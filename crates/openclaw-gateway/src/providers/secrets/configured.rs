//! Secrets under `models.providers`: texts and pointers, and which of them cannot be used, and why.

use std::fmt;

use openclaw_auth_store::{SecretError, SecretRef, SecretSource};
use openclaw_chain::{ModelsConfig, SecretValue};
use openclaw_classify::error_chain;
use openclaw_ids::ProviderId;

use super::{SecretSources, kind};

/// Why a configured secret cannot be used. Of its value, only the name of a variable is shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SecretProblem {
    /// An empty text.
    #[error("it is blank; write the secret, or remove the key")]
    Blank,
    /// Its source is not configured.
    #[error(
        "no {kind} is configured as `{alias}`; add it under secrets.providers, or name an environment variable"
    )]
    NotConfigured {
        /// The kind of source.
        kind: &'static str,
        /// Its alias.
        alias: String,
    },
    /// Neither a text nor a reference.
    #[error(
        "it is neither a text nor a reference; write \"${{NAME}}\" or {{ source: \"env\", id: \"NAME\" }} for a variable"
    )]
    Shape,
    /// A file or command that gives no secret.
    #[error("{0}")]
    Unresolved(String),
    /// A variable without a value.
    #[error("environment variable `{0}` is not set; set it and start again")]
    Unset(String),
}

/// A configured secret that cannot be used, and its key path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnusableSecret {
    /// The provider.
    pub(crate) provider: ProviderId,
    /// The header that is not sent because of it; none for the key itself.
    pub(crate) header: Option<String>,
    /// Why.
    pub(crate) problem: SecretProblem,
}

impl UnusableSecret {
    /// The key path.
    pub(crate) fn path(&self) -> String {
        let provider = &self.provider;
        match &self.header {
            Some(header) => format!("models.providers.{provider}.headers.{header}"),
            None => format!("models.providers.{provider}.apiKey"),
        }
    }

    /// The consequence, and the cause.
    pub(crate) fn consequence(&self) -> String {
        let provider = &self.provider;
        match self.header {
            Some(_) => format!("the header is not sent to `{provider}`: {}", self.problem),
            None => format!("`{provider}` has no key from here: {}", self.problem),
        }
    }
}

impl fmt::Display for UnusableSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path(), self.consequence())
    }
}

/// The text of a configured secret: written as it is, or behind a pointer.
pub(crate) fn secret_text(value: &SecretValue, sources: &SecretSources) -> Result<String, SecretProblem> {
    if let Some(pointer) = SecretRef::parse(value.expose()) {
        return follow(&pointer, sources);
    }
    let text = value.expose_text().ok_or(SecretProblem::Shape)?.trim();
    if text.is_empty() {
        return Err(SecretProblem::Blank);
    }
    // Not a key, but the name of a variable in lowercase.
    if text.starts_with("${") && text.ends_with('}') {
        return Err(SecretProblem::Shape);
    }
    Ok(text.to_owned())
}

/// The pointer of a configured secret that is followed at each use, because its source may change: a file, or a
/// command.
pub(crate) fn lasting_pointer(value: &SecretValue, sources: &SecretSources) -> Option<SecretRef> {
    let pointer = SecretRef::parse(value.expose())?;
    (pointer.source != SecretSource::Env && sources.is_configured(&pointer)).then_some(pointer)
}

fn follow(pointer: &SecretRef, sources: &SecretSources) -> Result<String, SecretProblem> {
    if !sources.is_configured(pointer) {
        return Err(SecretProblem::NotConfigured {
            kind: kind(pointer.source),
            alias: pointer.provider.clone(),
        });
    }
    match sources.follow(pointer) {
        Ok(text) => Ok(text),
        Err(SecretError::Unset { name }) => Err(SecretProblem::Unset(name)),
        Err(error) => Err(SecretProblem::Unresolved(error_chain::line(&error))),
    }
}

/// Every secret under `models.providers` that cannot be used, in the order of the file.
pub(crate) fn unusable(models: &ModelsConfig, sources: &SecretSources) -> Vec<UnusableSecret> {
    let mut found = Vec::new();
    for (key, row) in &models.providers {
        let Ok(provider) = ProviderId::try_new(key) else {
            continue;
        };
        let own = row.api_key.iter().map(|value| (None, value));
        let headers = row
            .headers
            .iter()
            .map(|(name, value)| (Some(name.clone()), value));
        found.extend(own.chain(headers).filter_map(|(header, value)| {
            // A command is not run before its secret is needed.
            let is_command = SecretRef::parse(value.expose()).is_some_and(|pointer| {
                pointer.source == SecretSource::Exec && sources.is_configured(&pointer)
            });
            if is_command && (header.is_none() || !sources.runs_commands()) {
                return None;
            }
            let problem = secret_text(value, sources).err()?;
            Some(UnusableSecret {
                provider: provider.clone(),
                header,
                problem,
            })
        }));
    }
    found
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use openclaw_config::Config;
    use openclaw_config::Environment;

    #[test]
    fn what_leads_nowhere_is_named_without_its_value() {
        let text = "{ models: { providers: {
            ' Relay ': { apiKey: '${NOPE}', headers: { 'x-a': '$ALSO_NOT', 'x-b': 'fine', 'x-c': '$SET' } },
            b: { apiKey: { source: 'env', id: 'nope' } },
            c: { apiKey: { source: 'file', id: '/key' } },
            d: { apiKey: { source: 'exec', id: 'key' } },
            e: { apiKey: ' ' }, f: { apiKey: { key: 'sk-secret' } }, g: { apiKey: '${lower}' },
            h: { apiKey: 'sk-secret' }, i: { apiKey: '$SET' } } } }";
        let config = Config::parse(Path::new("/c"), text).unwrap();
        let environment = Environment::of([("SET", "v"), ("NOPE", " ")], Path::new("/"));
        let found = unusable(
            &config.chain.models,
            &SecretSources::new(&config.secrets, &environment),
        );
        let told: Vec<String> = found.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!("unusable", told.join("\n"));
    }
}
