//! The settings under `auth.cooldowns`, validated once (cooldown.md 2).

mod value;

use std::time::Duration;

use openclaw_ids::ProviderId;
use serde::{Deserialize, Deserializer};

use value::{Count, Hours, Milliseconds, Minutes, PerProvider};

/// The cooldown settings.
///
/// Deserialising is strict: a wrong value is an error that says what to write. [`lenient`](Self::lenient) never
/// fails. Unknown keys are ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CooldownConfig {
    billing_backoff: Duration,
    billing_backoff_by_provider: Vec<(ProviderId, Duration)>,
    billing_max: Duration,
    auth_permanent_backoff: Duration,
    auth_permanent_max: Duration,
    failure_window: Duration,
    overloaded_profile_rotations: u32,
    overloaded_backoff: Duration,
    rate_limited_profile_rotations: u32,
    bypass: Vec<ProviderId>,
}

impl Default for CooldownConfig {
    fn default() -> Self {
        const HOUR: Duration = Duration::from_hours(1);
        const MINUTE: Duration = Duration::from_mins(1);
        Self {
            billing_backoff: HOUR * 5,
            billing_backoff_by_provider: Vec::new(),
            billing_max: HOUR * 24,
            auth_permanent_backoff: MINUTE * 10,
            auth_permanent_max: MINUTE * 60,
            failure_window: HOUR * 24,
            overloaded_profile_rotations: 1,
            overloaded_backoff: Duration::ZERO,
            rate_limited_profile_rotations: 1,
            bypass: Vec::new(),
        }
    }
}

impl CooldownConfig {
    /// Reads settings as the running program does: a value that is no use counts as absent, an invalid
    /// per-provider override as the global value (D12), a negative whole number as 0.
    pub fn lenient(settings: &serde_json::Value) -> Self {
        let read = |key: &str| settings.get(key);
        RawConfig {
            billing_backoff_hours: read("billingBackoffHours").and_then(Hours::lenient),
            billing_backoff_hours_by_provider: read("billingBackoffHoursByProvider")
                .map(PerProvider::lenient),
            billing_max_hours: read("billingMaxHours").and_then(Hours::lenient),
            auth_permanent_backoff_minutes: read("authPermanentBackoffMinutes").and_then(Minutes::lenient),
            auth_permanent_max_minutes: read("authPermanentMaxMinutes").and_then(Minutes::lenient),
            failure_window_hours: read("failureWindowHours").and_then(Hours::lenient),
            overloaded_profile_rotations: read("overloadedProfileRotations").and_then(Count::lenient),
            overloaded_backoff_ms: read("overloadedBackoffMs").and_then(Milliseconds::lenient),
            rate_limited_profile_rotations: read("rateLimitedProfileRotations").and_then(Count::lenient),
        }
        .into()
    }

    /// Exempts these providers from scoped windows (D8); a setting of ours, empty by default.
    #[must_use]
    pub fn with_bypass(mut self, providers: Vec<ProviderId>) -> Self {
        self.bypass = providers;
        self
    }

    /// The first billing wait of `provider`: its own `billingBackoffHoursByProvider`, else `billingBackoffHours`.
    pub fn billing_backoff(&self, provider: &ProviderId) -> Duration {
        let own = self
            .billing_backoff_by_provider
            .iter()
            .find(|(id, _)| id == provider);
        own.map_or(self.billing_backoff, |(_, wait)| *wait)
    }

    /// Every first billing wait: the common one (`None`), and those of single providers, in the order written.
    pub fn billing_backoffs(&self) -> impl Iterator<Item = (Option<&ProviderId>, Duration)> {
        let own = self
            .billing_backoff_by_provider
            .iter()
            .map(|(provider, wait)| (Some(provider), *wait));
        std::iter::once((None, self.billing_backoff)).chain(own)
    }

    /// The longest billing wait, `billingMaxHours`.
    pub fn billing_max(&self) -> Duration {
        self.billing_max
    }

    /// The first wait of a dead credential, `authPermanentBackoffMinutes`.
    pub fn auth_permanent_backoff(&self) -> Duration {
        self.auth_permanent_backoff
    }

    /// The longest wait of a dead credential, `authPermanentMaxMinutes`.
    pub fn auth_permanent_max(&self) -> Duration {
        self.auth_permanent_max
    }

    /// A lane without a failure for longer than this starts over (D1), `failureWindowHours`.
    pub fn failure_window(&self) -> Duration {
        self.failure_window
    }

    /// How many profiles an overloaded or slow candidate may rotate to (R1), `overloadedProfileRotations`.
    pub fn overloaded_profile_rotations(&self) -> u32 {
        self.overloaded_profile_rotations
    }

    /// The pause before such a rotation (R1), `overloadedBackoffMs`; zero means none.
    pub fn overloaded_backoff(&self) -> Duration {
        self.overloaded_backoff
    }

    /// How many profiles a rate-limited candidate may rotate to (R1), `rateLimitedProfileRotations`.
    pub fn rate_limited_profile_rotations(&self) -> u32 {
        self.rate_limited_profile_rotations
    }

    /// Whether `provider` manages its own limits (D8).
    pub fn bypasses(&self, provider: &ProviderId) -> bool {
        self.bypass.contains(provider)
    }
}

impl<'de> Deserialize<'de> for CooldownConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        RawConfig::deserialize(deserializer).map(Self::from)
    }
}

/// The settings as they stand in the configuration.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct RawConfig {
    #[serde(deserialize_with = "value::given")]
    billing_backoff_hours: Option<Hours>,
    #[serde(deserialize_with = "value::given")]
    billing_backoff_hours_by_provider: Option<PerProvider>,
    #[serde(deserialize_with = "value::given")]
    billing_max_hours: Option<Hours>,
    #[serde(deserialize_with = "value::given")]
    auth_permanent_backoff_minutes: Option<Minutes>,
    #[serde(deserialize_with = "value::given")]
    auth_permanent_max_minutes: Option<Minutes>,
    #[serde(deserialize_with = "value::given")]
    failure_window_hours: Option<Hours>,
    #[serde(deserialize_with = "value::given")]
    overloaded_profile_rotations: Option<Count>,
    #[serde(deserialize_with = "value::given")]
    overloaded_backoff_ms: Option<Milliseconds>,
    #[serde(deserialize_with = "value::given")]
    rate_limited_profile_rotations: Option<Count>,
}

impl From<RawConfig> for CooldownConfig {
    fn from(raw: RawConfig) -> Self {
        let default = Self::default();
        let hours = |value: Option<Hours>, default| value.map_or(default, |Hours(wait)| wait);
        let minutes = |value: Option<Minutes>, default| value.map_or(default, |Minutes(wait)| wait);
        let count = |value: Option<Count>, default| value.map_or(default, |Count(count)| count);
        Self {
            billing_backoff: hours(raw.billing_backoff_hours, default.billing_backoff),
            billing_backoff_by_provider: raw
                .billing_backoff_hours_by_provider
                .map_or_else(Vec::new, |PerProvider(rows)| rows),
            billing_max: hours(raw.billing_max_hours, default.billing_max),
            auth_permanent_backoff: minutes(
                raw.auth_permanent_backoff_minutes,
                default.auth_permanent_backoff,
            ),
            auth_permanent_max: minutes(raw.auth_permanent_max_minutes, default.auth_permanent_max),
            failure_window: hours(raw.failure_window_hours, default.failure_window),
            overloaded_profile_rotations: count(
                raw.overloaded_profile_rotations,
                default.overloaded_profile_rotations,
            ),
            overloaded_backoff: raw
                .overloaded_backoff_ms
                .map_or(default.overloaded_backoff, |Milliseconds(wait)| wait),
            rate_limited_profile_rotations: count(
                raw.rate_limited_profile_rotations,
                default.rate_limited_profile_rotations,
            ),
            bypass: default.bypass,
        }
    }
}

#[cfg(test)]
mod tests;
