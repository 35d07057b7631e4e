//! The longest wait that a client's SDK should sit out by itself.

use openclaw_config::Environment;

/// The variable that sets the cap.
const VARIABLE: &str = "OPENCLAW_SDK_RETRY_MAX_WAIT_SECONDS";
/// The cap without a setting, in milliseconds.
const DEFAULT_MILLIS: u64 = 60_000;
/// Values that lift the cap.
const LIFTED: &[&str] = &["0", "disabled", "false", "none", "off"];

/// The cap; none lifts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RetryCap(Option<u64>);

impl RetryCap {
    /// Reads the variable; what means nothing is the default.
    pub(crate) fn of(environment: &Environment) -> Self {
        let Some(text) = environment.get(VARIABLE) else {
            return Self(Some(DEFAULT_MILLIS));
        };
        if LIFTED.contains(&text.to_lowercase().as_str()) {
            return Self(None);
        }
        Self(Some(
            decimal_millis(text)
                .filter(|millis| *millis > 0)
                .unwrap_or(DEFAULT_MILLIS),
        ))
    }

    /// Whether a wait of `seconds` is too long to be sat out; an unknown wait is for 429 only.
    pub(crate) fn is_exceeded(self, seconds: Option<u64>, status: u16) -> bool {
        match (self.0, seconds) {
            (None, _) => false,
            (Some(cap), Some(seconds)) => seconds.saturating_mul(1_000) > cap,
            (Some(_), None) => status == 429,
        }
    }
}

/// A plain decimal such as `30` or `12.5` in thousandths, further digits cut off.
fn decimal_millis(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    let thousandths: String = fraction.chars().chain("000".chars()).take(3).collect();
    whole
        .parse::<u64>()
        .ok()?
        .checked_mul(1_000)?
        .checked_add(thousandths.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_14_2_what_the_variable_means() {
        for (value, cap) in [
            ("", Some(60_000)),
            ("  ", Some(60_000)),
            ("0", None),
            ("OFF", None),
            ("none", None),
            ("disabled", None),
            ("False", None),
            ("12.5", Some(12_500)),
            (" 30 ", Some(30_000)),
            ("0.0001", Some(60_000)),
            ("-5", Some(60_000)),
            ("1e3", Some(60_000)),
            ("0.0", Some(60_000)),
            ("00", Some(60_000)),
            ("no", Some(60_000)),
            ("5.", Some(60_000)),
            ("99999999999999999999", Some(60_000)),
        ] {
            let environment = Environment::of([(VARIABLE, value)], std::path::Path::new("/"));
            assert_eq!(RetryCap::of(&environment), RetryCap(cap), "{value:?}");
        }
    }

    #[test]
    fn r_14_4_waits_over_the_cap_and_unknown_ones_under_429() {
        let cap = RetryCap(Some(12_500));
        for (wait, status, exceeded) in [
            (Some(12), 429, false),
            (Some(13), 429, true),
            (Some(13), 503, true),
            (Some(u64::MAX), 503, true),
            (None, 429, true),
            (None, 503, false),
        ] {
            assert_eq!(cap.is_exceeded(wait, status), exceeded, "{wait:?} {status}");
            assert!(!RetryCap(None).is_exceeded(wait, status));
        }
    }
}
