//! Which credentials there are, and which candidates hang on the same one.

use std::collections::{BTreeSet, HashMap};

use openclaw_ids::ProviderId;
use openclaw_providers::AuthAliases;

use crate::config::{AuthMode, ModelsConfig, SecretValue};

/// What a caller knows beside `models.providers`: stored profiles, key variables, providers that need no key, and
/// addresses.
#[derive(Clone, Default)]
pub struct Credentials {
    aliases: AuthAliases,
    accounts: HashMap<ProviderId, BTreeSet<String>>,
    reachable: BTreeSet<ProviderId>,
}

impl Credentials {
    /// Adds one. `account` is compared and never shown: the same text means the same account, also under
    /// another provider.
    #[must_use]
    pub fn with(mut self, provider: &ProviderId, account: &str) -> Self {
        let provider = self.aliases.auth_id(provider);
        self.accounts
            .entry(provider)
            .or_default()
            .insert(account.to_owned());
        self
    }

    /// Adds a provider whose address the caller knows without any configuration.
    #[must_use]
    pub fn with_address(mut self, provider: &ProviderId) -> Self {
        self.reachable.insert(provider.clone());
        self
    }

    pub(super) fn reaches(&self, provider: &ProviderId) -> bool {
        self.reachable.contains(provider)
    }

    fn of(&self, provider: &ProviderId) -> impl Iterator<Item = Account<'_>> {
        let own = self.accounts.get(&self.aliases.auth_id(provider));
        own.into_iter().flatten().map(|account| Account::Known(account))
    }
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let counts = self
            .accounts
            .iter()
            .map(|(provider, accounts)| (provider, accounts.len()));
        f.debug_map().entries(counts).finish()
    }
}

/// Something that pays for a request.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Account<'a> {
    /// The host's own.
    Host,
    Key(&'a SecretValue),
    Known(&'a str),
}

/// The accounts a provider's requests may use.
pub(super) fn accounts<'a>(
    provider: &ProviderId,
    models: &'a ModelsConfig,
    credentials: Option<&'a Credentials>,
) -> Vec<Account<'a>> {
    let row = models.provider(provider);
    let key = row.and_then(|row| row.api_key.as_ref()).map(Account::Key);
    let host = row
        .filter(|row| row.auth == Some(AuthMode::AwsSdk))
        .map(|_| Account::Host);
    let known = credentials.into_iter().flat_map(|known| known.of(provider));
    key.into_iter().chain(host).chain(known).collect()
}
