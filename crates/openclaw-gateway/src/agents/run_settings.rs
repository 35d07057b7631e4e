//! The part of `failover.json5` that the runner uses.

use std::time::Duration;

use openclaw_config::{FailoverConfig, InlineWaitSetting};
use openclaw_runner::{InlineWait, RunLimits, RunSettings};

/// The runner's settings as `failover` has them.
pub fn run_settings(failover: &FailoverConfig) -> RunSettings {
    RunSettings {
        inline_wait: Duration::from_millis(failover.inline_wait_ms),
        inline_wait_when: match failover.inline_wait {
            InlineWaitSetting::Always => InlineWait::Always,
            InlineWaitSetting::Last => InlineWait::NothingElseLeft,
        },
        advance_on_format: failover.advance_on_format,
        limits: RunLimits {
            attempts: failover.max_attempts,
            // The duration depends on the model, see `deadlines`.
            duration: None,
        },
        ..RunSettings::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r2_and_a8_settings_reach_the_runner() {
        let failover: FailoverConfig =
            json5::from_str("{ inlineWait: 'always', maxAttempts: 3, advanceOnFormat: true }").unwrap();
        let settings = run_settings(&failover);
        assert_eq!(settings.inline_wait_when, InlineWait::Always);
        assert_eq!(settings.limits.attempts.map(std::num::NonZero::get), Some(3));
        assert!(settings.advance_on_format);
    }

    #[test]
    fn without_settings_the_runner_has_its_own_defaults() {
        assert_eq!(run_settings(&FailoverConfig::default()), RunSettings::default());
    }
}
