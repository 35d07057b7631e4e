//! The part of `failover.json5` and of the environment that the runner uses.

use std::time::Duration;

use openclaw_config::{Environment, FailoverConfig, InlineWaitSetting};
use openclaw_runner::{InlineWait, RunLimits, RunSettings, parse_skip_ttl};

/// The runner's settings as `failover` and `environment` have them.
pub fn run_settings(failover: &FailoverConfig, environment: &Environment) -> RunSettings {
    RunSettings {
        inline_wait: Duration::from_millis(failover.inline_wait_ms),
        inline_wait_when: match failover.inline_wait {
            InlineWaitSetting::Always => InlineWait::Always,
            InlineWaitSetting::Last => InlineWait::NothingElseLeft,
        },
        advance_on_format: failover.advance_on_format,
        auth_skip_ttl: parse_skip_ttl(environment.fallback_skip_ttl()),
        limits: RunLimits {
            attempts: failover.max_attempts,
            // The duration depends on the model, see `deadlines`.
            duration: None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        Environment::of(variables.iter().copied(), std::path::Path::new("/"))
    }

    #[test]
    fn r2_and_a8_settings_reach_the_runner() {
        let failover: FailoverConfig =
            json5::from_str("{ inlineWait: 'always', maxAttempts: 3, advanceOnFormat: true }").unwrap();
        let settings = run_settings(&failover, &environment(&[]));
        assert_eq!(settings.inline_wait_when, InlineWait::Always);
        assert_eq!(settings.limits.attempts.map(std::num::NonZero::get), Some(3));
        assert!(settings.advance_on_format);
    }

    #[test]
    fn without_settings_the_runner_has_its_own_defaults() {
        assert_eq!(
            run_settings(&FailoverConfig::default(), &environment(&[])),
            RunSettings::default()
        );
    }

    #[test]
    fn f_1_the_variable_says_how_long_a_refused_fallback_is_passed_over() {
        for (text, millis) in [
            ("600000", 600_000),
            (" 60000ms ", 60_000),
            ("1", 1_000),
            ("999999999", 600_000),
            ("0", 0),
            ("-5", 0),
            ("off", 0),
            ("", 0),
        ] {
            let environment = environment(&[("OPENCLAW_FALLBACK_SKIP_TTL_MS", text)]);
            let settings = run_settings(&FailoverConfig::default(), &environment);
            assert_eq!(settings.auth_skip_ttl, Duration::from_millis(millis), "{text:?}");
        }
    }
}
