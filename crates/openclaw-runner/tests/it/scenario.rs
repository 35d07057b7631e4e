//! The scenario file: what is configured, what is stored, what happens.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use openclaw_auth_store::{AuthConfig, AuthSnapshot, Credential, EndpointKey};
use openclaw_chain::{ChainConfig, Needs, Resolver};
use openclaw_cooldown::{ProfileUsage, UsageStats, adopt_usage_stats};
use openclaw_ids::{ModelRef, ProfileId, ProviderId};
use openclaw_runner::{
    ChainKind, EndpointKeys, InlineWait, LargerContext, LoginEndpoint, LoginUse, RunLimits, RunOptions,
    RunSettings, incompatible, parse_skip_ttl,
};
use serde::Deserialize;
use serde_json::{Map, Value};

/// 2026-03-01T12:00:00Z, when every scenario starts.
pub(crate) const START: i64 = 1_772_366_400;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    /// Under which heading of the document it stands.
    pub(crate) topic: Topic,
    /// A few words for the index.
    pub(crate) title: String,
    /// The story in plain words; the title of the snapshot.
    pub(crate) about: String,
    /// The rules it shows.
    pub(crate) rules: Vec<String>,
    /// An OpenClaw configuration.
    pub(crate) config: Value,
    /// `profiles`, and `order` or `usageStats` as they would be stored.
    pub(crate) store: Store,
    /// Our own settings; absent for the defaults.
    #[serde(default)]
    settings: Settings,
    /// The session's entry; absent for stateless runs.
    pub(crate) session: Option<Map<String, Value>>,
    pub(crate) runs: Vec<Run>,
}

/// The headings of the document, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Topic {
    /// From one model to the next.
    Chain,
    /// From one credential to the next.
    Rotate,
    /// Resting, skipping and probing.
    Rest,
    /// Waiting and limits.
    Wait,
    /// What ends a run at once.
    Stop,
    /// What a session remembers.
    Session,
    /// What a person decided.
    Person,
    /// What a person reads.
    Read,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Store {
    profiles: Map<String, Value>,
    #[serde(default)]
    order: HashMap<String, Vec<String>>,
    #[serde(default)]
    usage_stats: HashMap<String, UsageStats>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Run {
    /// How long after the run before, as `31s`, `5m` or `250ms`.
    after: Option<String>,
    /// Whether it is a run of the image chain.
    #[serde(default)]
    image: bool,
    /// How many tokens the prompt has, as its caller knows.
    prompt_tokens: Option<u64>,
    /// A model for this run alone.
    pub(crate) model: Option<String>,
    /// Outcomes per model, or per model and profile.
    pub(crate) script: HashMap<String, Vec<Value>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Settings {
    advance_on_format: bool,
    /// The value of the variable, as text.
    fallback_skip_ttl_ms: Option<String>,
    /// `always`, or absent.
    inline_wait: Option<String>,
    /// Sizes in tokens; with any, an overflow goes on to larger models.
    context_windows: HashMap<String, u64>,
    /// Where the logins of providers are used, when that is elsewhere.
    logins_at: BTreeMap<String, String>,
    max_attempts: Option<NonZeroUsize>,
    /// How long the only candidate may be waited for, as `31s`.
    wait_for_reset: Option<String>,
    /// As `31s`.
    max_duration: Option<String>,
}

impl Scenario {
    pub(crate) fn options(&self, run: &Run, resolver: &Resolver, chain: &[ModelRef]) -> RunOptions {
        let needs = run
            .prompt_tokens
            .map(|tokens| Needs::default().with_tokens(tokens));
        let windows = self.settings.context_windows.iter();
        let windows: HashMap<_, _> = windows
            .map(|(model, size)| (model.parse().unwrap(), *size))
            .collect();
        RunOptions {
            kind: run.kind(),
            wait_for_reset: self.settings.wait_for_reset.as_deref().map(duration),
            incompatible: needs.map_or_else(HashMap::new, |needs| incompatible(resolver, chain, &needs)),
            larger_context: (!windows.is_empty()).then_some(LargerContext {
                windows,
                prompt_tokens: None,
            }),
            ..RunOptions::default()
        }
    }

    pub(crate) fn settings(&self) -> RunSettings {
        RunSettings {
            advance_on_format: self.settings.advance_on_format,
            inline_wait_when: match self.settings.inline_wait.as_deref() {
                None => InlineWait::NothingElseLeft,
                Some("always") => InlineWait::Always,
                Some(other) => panic!("there is no inline wait {other:?}"),
            },
            limits: RunLimits {
                attempts: self.settings.max_attempts,
                duration: self.settings.max_duration.as_deref().map(duration),
            },
            auth_skip_ttl: parse_skip_ttl(self.settings.fallback_skip_ttl_ms.as_deref()),
            ..RunSettings::default()
        }
    }

    pub(crate) fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        json5::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    pub(crate) fn chain_config(&self) -> ChainConfig {
        serde_json::from_value(self.config.clone()).unwrap()
    }

    pub(crate) fn auth_config(&self) -> AuthConfig {
        self.config.get("auth").map_or_else(AuthConfig::default, |auth| {
            serde_json::from_value(auth.clone()).unwrap()
        })
    }

    /// The endpoints of the providers whose address is configured, and of their logins.
    pub(crate) fn endpoints(&self) -> EndpointKeys {
        let config = self.chain_config();
        let key = |provider: &ProviderId, base_url: &str| EndpointKey {
            provider: provider.clone(),
            base_url: base_url.to_owned(),
        };
        let providers = config.models.providers.iter();
        let keys: EndpointKeys = providers
            .filter_map(|(id, row)| {
                let id: ProviderId = id.parse().unwrap();
                let key = key(&id, row.base_url.as_deref()?);
                Some((id, key))
            })
            .collect();
        let logins = self.settings.logins_at.iter();
        logins.fold(keys, |keys, (provider, base_url)| {
            let provider: ProviderId = provider.parse().unwrap();
            let logins = LoginEndpoint {
                key: key(&provider, base_url),
                used_by: LoginUse::Oauth,
            };
            keys.with_logins(provider, logins)
        })
    }

    pub(crate) fn snapshot(&self) -> AuthSnapshot {
        let now = Timestamp::from_second(START).unwrap();
        let mut snapshot = AuthSnapshot::default();
        for (id, entry) in &self.store.profiles {
            snapshot
                .profiles
                .insert(id.parse().unwrap(), Credential::from_json(entry).unwrap());
        }
        for (provider, ids) in &self.store.order {
            let ids: Vec<ProfileId> = ids.iter().map(|id| id.parse().unwrap()).collect();
            snapshot.order.insert(provider.parse().unwrap(), ids);
        }
        for (id, stats) in &self.store.usage_stats {
            let usage = adopt_usage_stats(ProfileUsage::default(), stats, now);
            snapshot.usage.insert(id.parse().unwrap(), usage);
        }
        snapshot
    }
}

impl Run {
    pub(crate) fn kind(&self) -> ChainKind {
        if self.image {
            ChainKind::Image
        } else {
            ChainKind::Text
        }
    }

    pub(crate) fn after(&self) -> Duration {
        self.after.as_deref().map_or(Duration::ZERO, duration)
    }
}

/// `31s`, `5m` or `250ms`.
pub(crate) fn duration(text: &str) -> Duration {
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap();
    let amount: u64 = text[..split].parse().unwrap();
    match &text[split..] {
        "ms" => Duration::from_millis(amount),
        "s" => Duration::from_secs(amount),
        "m" => Duration::from_secs(amount * 60),
        "h" => Duration::from_secs(amount * 3600),
        unit => panic!("no unit is called {unit:?}; write ms, s, m or h"),
    }
}
