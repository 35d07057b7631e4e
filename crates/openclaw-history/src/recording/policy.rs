//! The policy of a recording: the settings that concern its chain.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use openclaw_auth_store::{AuthConfig, ConfiguredMode, ConfiguredProfile, EndpointKey};
use openclaw_classify::redact;
use openclaw_cooldown::CooldownConfig;
use openclaw_ids::{ProfileId, ProviderId};
use openclaw_providers::AuthAliases;
use openclaw_runner::{EndpointKeys, InlineWait, LoginEndpoint, LoginUse, RunLimits, RunPolicy, RunSettings};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::millis;

/// What of a policy concerns the providers of a chain.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RecordedPolicy {
    /// `auth.cooldowns`, in full and as it would be written in a configuration.
    pub cooldowns: Map<String, Value>,
    /// Providers that manage their own limits (D8).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bypass: Vec<ProviderId>,
    /// `auth.order`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<(ProviderId, Vec<ProfileId>)>,
    /// `auth.profiles`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<RecordedProfileConfig>,
    /// Providers that use the cloud vendor's own credentials.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aws_sdk: Vec<ProviderId>,
    /// Providers that use another one's credentials.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub aliases: BTreeMap<ProviderId, ProviderId>,
    /// The address of each provider that has one, redacted.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub endpoints: BTreeMap<ProviderId, String>,
    /// Where logins are used, by the provider that their credentials name, when that is elsewhere.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub login_endpoints: BTreeMap<ProviderId, RecordedLoginEndpoint>,
    /// Settings of our own.
    pub settings: RecordedSettings,
}

/// A configured profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedProfileConfig {
    /// The profile.
    pub id: ProfileId,
    /// Its provider.
    pub provider: ProviderId,
    /// Its mode as in a configuration.
    pub mode: ConfiguredMode,
}

/// Where the logins of a provider are used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedLoginEndpoint {
    /// The provider that the endpoint counts under.
    pub provider: ProviderId,
    /// The address, redacted.
    pub base_url: String,
    /// Whether stored tokens are used there, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tokens: bool,
}

impl RecordedLoginEndpoint {
    fn of(endpoint: &LoginEndpoint) -> Self {
        Self {
            provider: endpoint.key.provider.clone(),
            base_url: redact(&endpoint.key.base_url),
            tokens: endpoint.used_by == LoginUse::OauthAndTokens,
        }
    }

    fn endpoint(&self) -> LoginEndpoint {
        LoginEndpoint {
            key: EndpointKey {
                provider: self.provider.clone(),
                base_url: self.base_url.clone(),
            },
            used_by: if self.tokens {
                LoginUse::OauthAndTokens
            } else {
                LoginUse::Oauth
            },
        }
    }
}

/// The settings of our own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RecordedSettings {
    /// `inlineWaitMs`.
    pub inline_wait_ms: u64,
    /// Whether `inlineWait` is `always`.
    pub inline_wait_always: bool,
    /// `advanceOnFormat`.
    pub advance_on_format: bool,
    /// How long a fallback that refused its login is skipped, in milliseconds.
    pub auth_skip_ttl_ms: u64,
    /// The most attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<usize>,
    /// The longest time, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_duration_ms: Option<u64>,
}

impl RecordedPolicy {
    /// What of `policy` concerns `providers`.
    pub(crate) fn of(policy: &RunPolicy, providers: &[ProviderId]) -> Self {
        let RunPolicy {
            auth,
            aliases,
            endpoints,
            settings,
        } = policy;
        let ours = |provider: &ProviderId| {
            providers
                .iter()
                .any(|one| aliases.share_credentials(provider, one))
        };
        let orders = auth.order.iter().filter(|(provider, _)| ours(provider));
        let profiles = auth
            .profiles
            .iter()
            .filter(|(_, profile)| ours(&profile.provider));
        let named = auth.profiles.values().map(|profile| &profile.provider);
        let canonical: Vec<ProviderId> = providers
            .iter()
            .map(|provider| aliases.auth_id(provider))
            .collect();
        let known = providers.iter().chain(&canonical).chain(named);
        let aliased = known.filter_map(|provider| {
            let owner = aliases.auth_id(provider);
            (owner != *provider).then(|| (provider.clone(), owner))
        });
        let addresses = providers.iter().filter_map(|provider| {
            let key = endpoints.get(provider)?;
            Some((provider.clone(), redact(&key.base_url)))
        });
        let concerned = providers.iter().flat_map(|provider| aliases.sharing(provider));
        let login_endpoints = concerned.filter_map(|provider| {
            let endpoint = endpoints.of_logins(provider)?;
            Some((provider.clone(), RecordedLoginEndpoint::of(endpoint)))
        });
        let mut billing: Vec<ProviderId> = Vec::new();
        for provider in providers.iter().chain(&canonical) {
            if !billing.contains(provider) {
                billing.push(provider.clone());
            }
        }
        Self {
            cooldowns: cooldowns(&auth.cooldowns, &billing),
            bypass: billing
                .iter()
                .filter(|provider| auth.cooldowns.bypasses(provider))
                .cloned()
                .collect(),
            order: orders
                .map(|(provider, ids)| (provider.clone(), ids.clone()))
                .collect(),
            profiles: profiles
                .map(|(id, profile)| RecordedProfileConfig {
                    id: id.clone(),
                    provider: profile.provider.clone(),
                    mode: profile.mode,
                })
                .collect(),
            aws_sdk: auth
                .aws_sdk
                .iter()
                .filter(|provider| ours(provider))
                .cloned()
                .collect(),
            aliases: aliased.collect(),
            endpoints: addresses.collect(),
            login_endpoints: login_endpoints.collect(),
            settings: RecordedSettings::of(settings),
        }
    }

    /// The policy, with what does not concern the chain left out.
    ///
    /// # Errors
    /// A sentence about the first setting that cannot be read.
    pub fn policy(&self) -> Result<RunPolicy, serde_json::Error> {
        let cooldowns: CooldownConfig = serde_json::from_value(Value::Object(self.cooldowns.clone()))?;
        let aliases = self
            .aliases
            .iter()
            .fold(AuthAliases::none(), |aliases, (alias, owner)| {
                aliases.with_alias(alias.clone(), owner.clone())
            });
        let endpoints: EndpointKeys = self
            .endpoints
            .iter()
            .map(|(provider, base_url)| {
                let key = EndpointKey {
                    provider: provider.clone(),
                    base_url: base_url.clone(),
                };
                (provider.clone(), key)
            })
            .collect();
        let endpoints = self
            .login_endpoints
            .iter()
            .fold(endpoints, |endpoints, (provider, logins)| {
                endpoints.with_logins(provider.clone(), logins.endpoint())
            });
        let profiles = self.profiles.iter().map(|profile| {
            let config = ConfiguredProfile {
                provider: profile.provider.clone(),
                mode: profile.mode,
                email: None,
                display_name: None,
            };
            (profile.id.clone(), config)
        });
        Ok(RunPolicy {
            auth: AuthConfig {
                profiles: profiles.collect(),
                order: self.order.iter().cloned().collect(),
                cooldowns: cooldowns.with_bypass(self.bypass.clone()),
                aws_sdk: self.aws_sdk.iter().cloned().collect(),
            },
            aliases,
            endpoints,
            settings: self.settings.settings(),
        })
    }
}

/// `auth.cooldowns` in the words of a configuration.
fn cooldowns(config: &CooldownConfig, providers: &[ProviderId]) -> Map<String, Value> {
    let by_provider: Map<String, Value> = providers
        .iter()
        .map(|provider| (provider.to_string(), hours(config.billing_backoff(provider))))
        .collect();
    let rows = [
        ("billingBackoffHoursByProvider", Value::Object(by_provider)),
        ("billingMaxHours", hours(config.billing_max())),
        (
            "authPermanentBackoffMinutes",
            minutes(config.auth_permanent_backoff()),
        ),
        ("authPermanentMaxMinutes", minutes(config.auth_permanent_max())),
        ("failureWindowHours", hours(config.failure_window())),
        (
            "overloadedProfileRotations",
            json!(config.overloaded_profile_rotations()),
        ),
        (
            "overloadedBackoffMs",
            json!(millis::whole(config.overloaded_backoff())),
        ),
        (
            "rateLimitedProfileRotations",
            json!(config.rate_limited_profile_rotations()),
        ),
    ];
    rows.into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn hours(duration: Duration) -> Value {
    json!(duration.as_secs_f64() / 3_600.0)
}

fn minutes(duration: Duration) -> Value {
    json!(duration.as_secs_f64() / 60.0)
}

impl RecordedSettings {
    fn of(settings: &RunSettings) -> Self {
        Self {
            inline_wait_ms: millis::whole(settings.inline_wait),
            inline_wait_always: settings.inline_wait_when == InlineWait::Always,
            advance_on_format: settings.advance_on_format,
            auth_skip_ttl_ms: millis::whole(settings.auth_skip_ttl),
            max_attempts: settings.limits.attempts.map(usize::from),
            max_duration_ms: settings.limits.duration.map(millis::whole),
        }
    }

    fn settings(&self) -> RunSettings {
        RunSettings {
            inline_wait: Duration::from_millis(self.inline_wait_ms),
            inline_wait_when: if self.inline_wait_always {
                InlineWait::Always
            } else {
                InlineWait::NothingElseLeft
            },
            advance_on_format: self.advance_on_format,
            auth_skip_ttl: Duration::from_millis(self.auth_skip_ttl_ms),
            limits: limits(self.max_attempts, self.max_duration_ms),
        }
    }
}

pub(crate) fn limits(attempts: Option<usize>, duration_ms: Option<u64>) -> RunLimits {
    RunLimits {
        attempts: attempts.and_then(NonZeroUsize::new),
        duration: duration_ms.map(Duration::from_millis),
    }
}
