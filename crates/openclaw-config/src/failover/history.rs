//! `history`: whether run records are kept, for how long and how much.

use std::num::NonZeroU32;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// `history` of `failover.json5`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(
    default,
    rename_all = "camelCase",
    deny_unknown_fields,
    expecting = "an object of settings such as { maxAgeDays: 14 }"
)]
pub struct HistoryConfig {
    /// Whether decisions are kept at all.
    pub enabled: bool,
    /// How long entries are kept, in days.
    pub max_age_days: NonZeroU32,
    /// How large the entries may become, in MiB; the oldest make room.
    pub max_mega_bytes: NonZeroU32,
}

/// Two weeks: long enough to look into what happened over a holiday.
const MAX_AGE_DAYS: NonZeroU32 = NonZeroU32::MIN.saturating_add(13);
/// Some three hundred thousand runs in which nothing happened, or a tenth of that in which much did.
const MAX_MEGA_BYTES: NonZeroU32 = NonZeroU32::MIN.saturating_add(127);

impl Default for HistoryConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            max_age_days: MAX_AGE_DAYS,
            max_mega_bytes: MAX_MEGA_BYTES,
        }
    }
}

impl HistoryConfig {
    /// The settings that differ from `other`, by their names in `failover.json5`.
    pub fn differences(&self, other: &Self) -> Vec<&'static str> {
        let Self {
            enabled,
            max_age_days,
            max_mega_bytes,
        } = self;
        let rows = [
            ("history.enabled", *enabled != other.enabled),
            ("history.maxAgeDays", *max_age_days != other.max_age_days),
            ("history.maxMegaBytes", *max_mega_bytes != other.max_mega_bytes),
        ];
        rows.into_iter()
            .filter_map(|(name, differs)| differs.then_some(name))
            .collect()
    }

    /// How long entries are kept.
    pub fn max_age(&self) -> Duration {
        const DAY: u64 = 24 * 60 * 60;
        Duration::from_secs(u64::from(self.max_age_days.get()).saturating_mul(DAY))
    }

    /// How large the entries may become, in bytes.
    pub fn max_bytes(&self) -> u64 {
        u64::from(self.max_mega_bytes.get()) << 20
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_the_documentation() {
        let config = HistoryConfig::default();
        assert_eq!(config.max_age(), Duration::from_hours(14 * 24));
        assert_eq!(config.max_bytes(), 128 << 20);
        let parsed: HistoryConfig = json5::from_str("{ maxAgeDays: 1, maxMegaBytes: 2 }").unwrap();
        assert_eq!((parsed.max_age_days.get(), parsed.max_mega_bytes.get()), (1, 2));
        assert!(parsed.enabled);
    }
}
