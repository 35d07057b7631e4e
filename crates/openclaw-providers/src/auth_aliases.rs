//! Which providers share credentials (auth-store.md 5.3).

use openclaw_ids::ProviderId;

use crate::catalogue::PROVIDERS;

/// Providers whose credentials are stored under another provider's name, one lookup and no chaining.
///
/// This concerns credentials only; a candidate keeps its own provider id (chain.md V2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthAliases {
    pairs: Vec<(ProviderId, ProviderId)>,
}

impl AuthAliases {
    /// No aliases at all.
    pub fn none() -> Self {
        Self { pairs: Vec::new() }
    }

    /// Adds or replaces one alias.
    #[must_use]
    pub fn with_alias(mut self, alias: ProviderId, canonical: ProviderId) -> Self {
        self.pairs.retain(|(known, _)| *known != alias);
        self.pairs.push((alias, canonical));
        self
    }

    /// The provider whose credentials `provider` uses.
    ///
    /// ```
    /// # use openclaw_ids::ProviderId;
    /// # use openclaw_providers::AuthAliases;
    /// let aliases = AuthAliases::default();
    /// let id = aliases.auth_id(&ProviderId::try_new("claude-cli")?);
    /// assert_eq!(id.as_str(), "anthropic");
    /// # Ok::<(), openclaw_ids::IdError>(())
    /// ```
    pub fn auth_id(&self, provider: &ProviderId) -> ProviderId {
        self.owner(provider).clone()
    }

    /// The provider whose credentials `provider` uses, and every alias of it; `provider` itself is among them.
    pub fn sharing<'a>(&'a self, provider: &'a ProviderId) -> impl Iterator<Item = &'a ProviderId> + 'a {
        let owner = self.owner(provider);
        // One lookup and no chaining: what its name leads elsewhere does not use its own.
        let own = self
            .pairs
            .iter()
            .all(|(alias, canonical)| alias != owner || canonical == owner);
        let aliases = self.pairs.iter().filter(move |(_, canonical)| canonical == owner);
        own.then_some(owner)
            .into_iter()
            .chain(aliases.map(|(alias, _)| alias))
    }

    /// Whether two providers use the same credentials.
    pub fn share_credentials(&self, one: &ProviderId, other: &ProviderId) -> bool {
        one == other || self.owner(one) == self.owner(other)
    }

    fn owner<'a>(&'a self, provider: &'a ProviderId) -> &'a ProviderId {
        let known = self.pairs.iter().find(|(alias, _)| alias == provider);
        known.map_or(provider, |(_, canonical)| canonical)
    }
}

impl Default for AuthAliases {
    fn default() -> Self {
        let pairs = PROVIDERS.iter().flat_map(|row| {
            let aliases = row.credential_aliases.iter();
            aliases.filter_map(|alias| Some((ProviderId::try_new(alias).ok()?, row.provider_id()?)))
        });
        Self {
            pairs: pairs.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> ProviderId {
        ProviderId::try_new(text).unwrap()
    }

    #[test]
    fn sharing_names_the_providers_that_share_and_no_others() {
        let chained = AuthAliases::none()
            .with_alias(id("a"), id("b"))
            .with_alias(id("b"), id("c"))
            .with_alias(id("d"), id("b"));
        let names: Vec<ProviderId> = [
            "a",
            "b",
            "c",
            "d",
            "e",
            "minimax",
            "minimax-cn",
            "claude-cli",
            "anthropic",
        ]
        .map(id)
        .into();
        for aliases in [AuthAliases::none(), AuthAliases::default(), chained] {
            for one in &names {
                for other in &names {
                    let listed = aliases.sharing(one).any(|name| name == other);
                    assert_eq!(listed, aliases.share_credentials(one, other), "{one:?} {other:?}");
                }
            }
        }
    }

    /// Alias and canonical provider (auth-store.md 5.3).
    const SHIPPED: &[(&str, &str)] = &[
        ("byteplus-plan", "byteplus"),
        ("claude-cli", "anthropic"),
        ("minimax-api", "minimax"),
        ("minimax-api-key-cn", "minimax"),
        ("minimax-api-lightning", "minimax"),
        ("minimax-cloud", "minimax"),
        ("minimax-cn", "minimax"),
        ("minimax-portal-cn", "minimax-portal"),
        ("novita-ai", "novita"),
        ("novitaai", "novita"),
        ("volcengine-plan", "volcengine"),
    ];

    #[test]
    fn every_shipped_alias_resolves_and_none_chains() {
        let aliases = AuthAliases::default();
        for (alias, canonical) in SHIPPED {
            assert_eq!(aliases.auth_id(&id(alias)), id(canonical));
            assert_eq!(aliases.auth_id(&id(canonical)), id(canonical));
        }
        assert_eq!(aliases.pairs.len(), SHIPPED.len());
    }

    #[test]
    fn names_that_are_no_aliases_here() {
        let aliases = AuthAliases::default();
        for (one, other) in [
            ("z.ai", "zai"),
            ("openai-codex", "openai"),
            ("codex", "openai"),
            ("bedrock", "amazon-bedrock"),
        ] {
            assert!(!aliases.share_credentials(&id(one), &id(other)));
        }
    }

    #[test]
    fn the_table_can_be_extended() {
        let aliases = AuthAliases::none().with_alias(id("relay"), id("openai"));
        assert!(aliases.share_credentials(&id("relay"), &id("openai")));
    }
}
