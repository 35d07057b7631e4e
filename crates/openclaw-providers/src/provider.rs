//! The row type of the catalogue: everything that is known about one provider without a configuration.

use openclaw_ids::ProviderId;

use crate::api_format::{ApiFormat, CompatiblePath, DEFAULT_FORMATS};
use crate::login::Login;

/// What is known about one provider.
///
/// All calls take the key as a bearer token, those to the compatibility endpoints of Anthropic and Google too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// The normalised id.
    pub id: &'static str,
    /// Further names of the provider in references; each is unique in the catalogue.
    pub aliases: &'static [&'static str],
    /// Further names under which its credentials are used (auth-store.md 5.3). They need not be [`aliases`](field@Self::aliases):
    /// `z.ai` is an alias of `zai` and has credentials of its own.
    pub credential_aliases: &'static [&'static str],
    /// Names under which its models also run through its own command line (S-10.2).
    pub cli_runtimes: &'static [&'static str],
    /// Whether configuration checks accept it without a row under `models.providers`.
    pub listing: Listing,
    /// Where `chat/completions` is found, without a slash at the end; `None` when only a configuration can say it.
    pub base_url: Option<&'static str>,
    /// Whether calls to [`base_url`](Self::base_url) need a key.
    pub key_need: KeyNeed,
    /// Environment variables that may hold the key, the first one first.
    pub key_variables: &'static [&'static str],
    /// The model of the chain that is built when nothing is configured.
    pub default_model: Option<&'static str>,
    /// The formats in which requests are passed on to it.
    pub formats: &'static [ApiFormat],
    /// Where its compatible paths are when a base URL is written for its own wire format.
    pub compatible_path: Option<CompatiblePath>,
    /// How logins of its users are used, next to keys.
    pub login: Option<Login>,
}

/// Whether configuration checks accept a reference to a provider that the configuration does not describe
/// (chain.md 1.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// Accepted: the id and its aliases are built in.
    BuiltIn,
    /// Not on the list of built-in ids, although an address is known.
    Unlisted,
}

/// Whether calls to a provider need a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyNeed {
    /// Calls without a key are worth making: a server on this machine.
    NoKey,
    /// A key, or another credential.
    Required,
}

impl Provider {
    /// The id as a type; there is one for every row.
    pub fn provider_id(&self) -> Option<ProviderId> {
        ProviderId::try_new(self.id).ok()
    }

    /// A built-in provider about which nothing but the id is known.
    pub(crate) const fn new(id: &'static str) -> Self {
        Self {
            id,
            aliases: &[],
            credential_aliases: &[],
            cli_runtimes: &[],
            listing: Listing::BuiltIn,
            base_url: None,
            key_need: KeyNeed::Required,
            key_variables: &[],
            default_model: None,
            formats: DEFAULT_FORMATS,
            compatible_path: None,
            login: None,
        }
    }

    pub(crate) const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    pub(crate) const fn credential_aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.credential_aliases = aliases;
        self
    }

    pub(crate) const fn cli_runtimes(mut self, names: &'static [&'static str]) -> Self {
        self.cli_runtimes = names;
        self
    }

    pub(crate) const fn unlisted(mut self) -> Self {
        self.listing = Listing::Unlisted;
        self
    }

    pub(crate) const fn at(mut self, base_url: &'static str) -> Self {
        self.base_url = Some(base_url);
        self
    }

    pub(crate) const fn keys(mut self, variables: &'static [&'static str]) -> Self {
        self.key_variables = variables;
        self
    }

    pub(crate) const fn without_key(mut self) -> Self {
        self.key_need = KeyNeed::NoKey;
        self
    }

    pub(crate) const fn model(mut self, default_model: &'static str) -> Self {
        self.default_model = Some(default_model);
        self
    }

    pub(crate) const fn formats(mut self, formats: &'static [ApiFormat]) -> Self {
        self.formats = formats;
        self
    }

    pub(crate) const fn path(mut self, own: &'static str, compatible: &'static str) -> Self {
        self.compatible_path = Some(CompatiblePath { own, compatible });
        self
    }

    pub(crate) const fn login(mut self, login: Login) -> Self {
        self.login = Some(login);
        self
    }
}
