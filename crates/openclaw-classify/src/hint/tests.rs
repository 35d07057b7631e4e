//! Tests of the hints.

use jiff::{SignedDuration, Timestamp};
use openclaw_ids::ProviderId;
use proptest::prelude::*;

use crate::{Failure, Header, HintSource, Transport, classify, reset_hint};

/// 2026-07-02T12:00:00Z, a Thursday.
fn now() -> Timestamp {
    "2026-07-02T12:00:00Z".parse().unwrap()
}

fn headers(pairs: &[(&str, &str)]) -> Failure {
    let headers = pairs.iter().map(|(name, value)| Header {
        name: (*name).to_owned(),
        value: (*value).to_owned(),
    });
    Failure {
        status: Some(429),
        headers: headers.collect(),
        ..Failure::default()
    }
}

fn said(text: &str) -> Failure {
    Failure {
        message: Some(text.to_owned()),
        ..Failure::default()
    }
}

/// The milliseconds from now until the stated end.
fn wait(failure: &Failure) -> Option<i128> {
    let at = reset_hint(failure, now()).filter(|hint| hint.credible)?.at;
    Some(at.duration_since(now()).as_millis())
}

/// A wait is read from every header that states one (runner R-14.3).
#[test]
fn c_9_headers() {
    for (name, value, expected) in [
        ("Retry-After", "30", Some(30_000)),
        ("retry-after", "1.5", Some(1_500)),
        ("retry-after", "Thu, 02 Jul 2026 12:01:00 GMT", Some(60_000)),
        ("retry-after-ms", "1500", Some(1_500)),
        ("x-ms-retry-after-ms", "250", Some(250)),
        ("x-amz-retry-after", "2000", Some(2_000)),
        ("x-ratelimit-reset-requests", "6m0s", Some(360_000)),
        ("x-ratelimit-reset-tokens", "120ms", Some(120)),
        ("x-ratelimit-reset", "1782993660", Some(60_000)),
        ("x-ratelimit-reset", "1782993660000", Some(60_000)),
        (
            "anthropic-ratelimit-tokens-reset",
            "2026-07-02T12:00:10Z",
            Some(10_000),
        ),
        ("anthropic-ratelimit-unified-reset", "1782993660", Some(60_000)),
        ("x-codex-primary-reset-after-seconds", "60", Some(60_000)),
        ("retry-after", "-5", None),
        ("retry-after", "NaN", None),
        ("retry-after", "99999999999999999999999", None),
        ("retry-after", "3024001", None),
        ("retry-after", "3024000", Some(3_024_000_000)),
        ("x-other", "30", None),
    ] {
        assert_eq!(wait(&headers(&[(name, value)])), expected, "{name}: {value}");
    }
}

#[test]
fn c_9_only_limits_that_are_used_up_count() {
    for (pairs, expected) in [
        // The seven-day window is used up, the five-hour one is not.
        (
            &[
                ("anthropic-ratelimit-unified-5h-status", "allowed"),
                ("anthropic-ratelimit-unified-5h-reset", "1782993660"),
                ("anthropic-ratelimit-unified-7d-status", "rejected"),
                ("anthropic-ratelimit-unified-7d-reset", "1783080000"),
                ("retry-after", "5"),
            ][..],
            Some(86_400_000),
        ),
        (
            &[
                ("x-ratelimit-remaining-requests", "10"),
                ("x-ratelimit-reset-requests", "1h"),
                ("x-ratelimit-remaining-tokens", "0"),
                ("x-ratelimit-reset-tokens", "20s"),
            ],
            Some(20_000),
        ),
        (
            &[
                ("x-codex-primary-used-percent", "100"),
                ("x-codex-primary-reset-after-seconds", "300"),
                ("x-codex-secondary-used-percent", "40"),
                ("x-codex-secondary-reset-after-seconds", "600000"),
            ],
            Some(300_000),
        ),
        // No limit is stated to be used up: the wait before a retry, else the end of the limit that ends first.
        (
            &[("x-ratelimit-reset-requests", "1h"), ("retry-after", "7")],
            Some(7_000),
        ),
        (
            &[
                ("x-ratelimit-reset-requests", "1h"),
                ("x-ratelimit-reset-tokens", "2s"),
            ],
            Some(2_000),
        ),
    ] {
        assert_eq!(wait(&headers(pairs)), expected, "{pairs:?}");
    }
}

#[test]
fn c_9_bodies() {
    for (body, expected) in [
        (
            r#"{"error":{"type":"usage_limit_reached","resets_in_seconds":602705}}"#,
            Some(602_705_000),
        ),
        (r#"{"error":{"resets_at":1782993660}}"#, Some(60_000)),
        (
            r#"{"error":{"code":"model_cooldown","reset_seconds":90}}"#,
            Some(90_000),
        ),
        (r#"{"error":{"reset_after_seconds":90}}"#, Some(90_000)),
        (
            r#"{"error":{"details":[{"@type":"x/google.rpc.RetryInfo","retryDelay":"36s"}]}}"#,
            Some(36_000),
        ),
        (
            r#"{"error":{"metadata":{"resets_at":"2026-07-02T13:00:00Z"}}}"#,
            Some(3_600_000),
        ),
        (
            r#"{"error":{"metadata":{"headers":{"X-RateLimit-Reset":"1782993660000"}}}}"#,
            Some(60_000),
        ),
        (r#"{"error":{"resets_at":1}}"#, None),
        (r#"{"error":{"resets_at":null}}"#, None),
    ] {
        assert_eq!(wait(&said(body)), expected, "{body}");
    }
}

#[test]
fn c_9_texts() {
    const MINUTE: i128 = 60_000;
    const HOUR: i128 = 60 * MINUTE;
    const DAY: i128 = 24 * HOUR;
    for (text, expected) in [
        ("Please try again in 9m38.016s. Need more?", Some(578_016)),
        (
            "try again in 2 days 17 hours 14 minutes.",
            Some(2 * DAY + 17 * HOUR + 14 * MINUTE),
        ),
        ("Please try again in 58 hours. Please review", Some(58 * HOUR)),
        ("Please retry in 36.429760048s.", Some(36_430)),
        ("Please retry after 86400 seconds.", Some(DAY)),
        ("Your quota will reset after 51m.", Some(51 * MINUTE)),
        (
            "Your quota will reset after 2h31m12s.",
            Some(2 * HOUR + 31 * MINUTE + 12_000),
        ),
        ("Resets in 16 days", Some(16 * DAY)),
        ("please wait 20s and retry", Some(20_000)),
        ("try again in 1 hour and 5 minutes", Some(HOUR + 5 * MINUTE)),
        ("Retry-After: 30", Some(30_000)),
        ("[violations { } , retry_delay { seconds: 33 } ]", Some(33_000)),
        ("usage limit reached|1782993660", Some(MINUTE)),
        ("Try again in ~4312 min.", Some(4_312 * MINUTE)),
        ("Expected available in 12 seconds.", Some(12_000)),
        ("Please wait 10 minutes before retrying", Some(10 * MINUTE)),
        ("your limit resets in 2d 17h", Some(2 * DAY + 17 * HOUR)),
        ("It will reset at 2026-07-03 00:00:00 +0800 CST.", Some(4 * HOUR)),
        (
            "Opus weekly limit reached ∙ resets Jul 14, 10am",
            Some(11 * DAY + 22 * HOUR),
        ),
        ("resets 1pm (Europe/Berlin)", Some(23 * HOUR)),
        ("resets 3pm (Europe/Berlin)", Some(HOUR)),
        ("resets 8:40pm (Europe/Warsaw)", Some(6 * HOUR + 40 * MINUTE)),
        ("try again at 5:30 PM.", Some(5 * HOUR + 30 * MINUTE)),
        (
            "Weekly limit reached ∙ resets Jul 4 at 5pm",
            Some(2 * DAY + 5 * HOUR),
        ),
        (
            "will reset at 2026-07-02 17:39:49",
            Some(5 * HOUR + 39 * MINUTE + 49_000),
        ),
        ("resets at 2026-07-03T12:00:00Z (2056)", Some(DAY)),
        ("will reset at 2026-07-02 17:00:00 +02:00", Some(3 * HOUR)),
        (
            "You will regain access on 2026-08-01 at 00:00 UTC.",
            Some(29 * DAY + 12 * HOUR),
        ),
        ("You will regain access on 2026-08-01", Some(29 * DAY + 12 * HOUR)),
        // No time at all, and times of something else.
        ("Please try again later.", None),
        ("Limit 12000, Requested 14137", None),
        ("try again in a moment", None),
        ("resets 12 things", None),
    ] {
        assert_eq!(wait(&said(text)), expected, "{text}");
    }
}

fn at_status(status: u16, pairs: &[(&str, &str)]) -> Failure {
    Failure {
        status: Some(status),
        ..headers(pairs)
    }
}

#[test]
fn f_20_a_window_with_room_says_nothing_and_only_quotas_end_with_a_window() {
    let allowed = [
        ("anthropic-ratelimit-unified-5h-status", "allowed"),
        ("anthropic-ratelimit-unified-5h-reset", "1783001600"),
    ];
    let warned = [
        ("anthropic-ratelimit-unified-status", "allowed_warning"),
        ("anthropic-ratelimit-unified-reset", "1783001600"),
    ];
    let codex = [
        ("x-codex-primary-used-percent", "31"),
        ("x-codex-primary-reset-after-seconds", "7999"),
        ("x-codex-primary-reset-at", "1783001600"),
    ];
    let remaining = [
        ("x-ratelimit-remaining-requests", "12"),
        ("x-ratelimit-reset-requests", "1h"),
    ];
    let rejected = [
        ("anthropic-ratelimit-unified-5h-status", "rejected"),
        ("anthropic-ratelimit-unified-5h-reset", "1783001600"),
    ];
    let unknown = [("x-ratelimit-reset-requests", "1h")];
    let hint = |failure: &Failure| {
        classify(failure, now())
            .and_then(|verdict| verdict.hint)
            .map(|hint| hint.source)
    };
    for pairs in [&allowed[..], &warned, &codex, &remaining] {
        for status in [429, 500, 503, 529] {
            assert_eq!(hint(&at_status(status, pairs)), None, "{status} {pairs:?}");
        }
        let cut = Failure {
            status: Some(200),
            transport: Some(Transport::Reset),
            ..headers(pairs)
        };
        assert_eq!(hint(&cut), None, "{pairs:?}");
        let waiting: Vec<_> = pairs.iter().copied().chain([("retry-after", "7")]).collect();
        assert_eq!(
            hint(&at_status(529, &waiting)),
            Some(HintSource::RetryAfter),
            "{pairs:?}"
        );
    }
    for pairs in [&rejected[..], &unknown] {
        assert_eq!(
            hint(&at_status(429, pairs)),
            Some(HintSource::RateLimitHeader),
            "{pairs:?}"
        );
        for status in [500, 503, 529] {
            assert_eq!(hint(&at_status(status, pairs)), None, "{status} {pairs:?}");
        }
    }
}

#[test]
fn f_25_dates_with_year_weekday_week_and_in_several_languages() {
    // 2026-07-02T12:00:00Z is a Thursday.
    for (text, expected) in [
        (
            "Your limit will reset on July 14, 2026 at 5:30 AM",
            "2026-07-14T05:30:00Z",
        ),
        (
            "Your limit resets on July 14, 2026 at 5:30 PM UTC.",
            "2026-07-14T17:30:00Z",
        ),
        (
            "It will reset on July 14th, 2026 at 12:15 AM",
            "2026-07-14T00:15:00Z",
        ),
        ("Try again on 14 July 2026, 05:30 GMT", "2026-07-14T05:30:00Z"),
        (
            "quota resets Tue, 14 Jul 2026 05:30:00 GMT",
            "2026-07-14T05:30:00Z",
        ),
        (
            "quota resets Tue, 14 Jul 2026 05:30:00 +0200",
            "2026-07-14T03:30:00Z",
        ),
        ("Your quota resets on 2026-W29-2", "2026-07-14T00:00:00Z"),
        ("Your quota resets on 2026-W29-2 at 05:30", "2026-07-14T05:30:00Z"),
        ("Your quota will reset on Tuesday at 9am", "2026-07-07T09:00:00Z"),
        (
            "Weekly limit reached, resets Thursday at 5:30 PM",
            "2026-07-02T17:30:00Z",
        ),
        (
            "Weekly limit reached, resets Thursday at 9:00 AM",
            "2026-07-09T09:00:00Z",
        ),
        ("available again on 7/14/2026 5:30 AM", "2026-07-14T05:30:00Z"),
        (
            "resets on July 14, 2026 at 5:30 AM (America/New_York)",
            "2026-07-14T09:30:00Z",
        ),
        ("resets on July 14, 2026 at 5:30 AM PDT", "2026-07-14T12:30:00Z"),
        ("resets at 2026-07-14 5:30 PM", "2026-07-14T17:30:00Z"),
        (
            "Das Limit wird am 14. Juli 2026 um 05:30 Uhr zurückgesetzt.",
            "2026-07-14T05:30:00Z",
        ),
        (
            "Das Limit wird am 14.07.2026 um 05:30 Uhr zurückgesetzt.",
            "2026-07-14T05:30:00Z",
        ),
        (
            "La limite sera réinitialisée le 14 juillet 2026 à 5h30.",
            "2026-07-14T05:30:00Z",
        ),
        (
            "El límite se restablecerá el 14 de julio de 2026 a las 5:30.",
            "2026-07-14T05:30:00Z",
        ),
        ("您的额度将于 2026年7月14日 05:30 重置", "2026-07-14T05:30:00Z"),
        ("您的额度将于2026年7月14日下午5点30分恢复", "2026-07-14T17:30:00Z"),
        (
            "制限は2026年7月14日 5時30分にリセットされます",
            "2026-07-14T05:30:00Z",
        ),
    ] {
        let failure = Failure {
            status: Some(429),
            ..said(text)
        };
        let hint = classify(&failure, now()).and_then(|verdict| verdict.hint);
        assert_eq!(
            hint.map(|hint| hint.at),
            Some(expected.parse().unwrap()),
            "{text}"
        );
    }
    for text in [
        "Released on July 14, 2026",
        "the may 5 limit",
        "retry; marked 14 as bad",
    ] {
        assert_eq!(wait(&said(text)), None, "{text}");
    }
}

#[test]
fn c_9_a_clock_without_a_zone_is_the_provider_s() {
    let failure = Failure {
        provider: ProviderId::try_new("zai").ok(),
        ..said("Your limit will reset at 2026-07-02 21:31:39")
    };
    let hint = reset_hint(&failure, now()).unwrap();
    assert_eq!(hint.at, "2026-07-02T13:31:39Z".parse().unwrap());
}

#[test]
fn bl_37_the_longest_of_several_statements_counts() {
    let failure = Failure {
        message: Some("Please try again in 5s".to_owned()),
        ..headers(&[("retry-after", "60")])
    };
    assert_eq!(wait(&failure), Some(60_000));
}

#[test]
fn bl_38_an_end_that_is_not_credible_is_kept_for_display_only() {
    for (text, at) in [
        ("resets at 2027-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
        ("resets at 2026-07-02T12:00:00Z", "2026-07-02T12:00:00Z"),
        ("resets at 2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z"),
    ] {
        let hint = reset_hint(&said(text), now()).unwrap();
        assert_eq!((hint.at, hint.credible), (at.parse().unwrap(), false), "{text}");
        assert_eq!(hint.source, HintSource::Text);
    }
}

#[test]
fn c_2_5_hints_of_causes_are_found() {
    let failure = Failure {
        cause: Some(Box::new(headers(&[("retry-after", "30")]))),
        ..said("LLM request failed")
    };
    assert_eq!(wait(&failure), Some(30_000));
}

proptest! {
    #[test]
    fn c_9_any_value_is_read_or_ignored(value in ".{0,40}", name in 0usize..5) {
        let names = ["retry-after", "x-ratelimit-reset", "retry-after-ms", "anthropic-ratelimit-tokens-reset", "x-amz-retry-after"];
        let failure = headers(&[(names[name], &value)]);
        if let Some(hint) = reset_hint(&failure, now()) {
            let ahead = hint.at.duration_since(now());
            prop_assert_eq!(hint.credible, ahead > SignedDuration::ZERO && ahead <= SignedDuration::from_hours(35 * 24));
        }
    }

    #[test]
    fn c_9_seconds_are_exact(seconds in 1i64..3_024_000) {
        prop_assert_eq!(wait(&headers(&[("retry-after", &seconds.to_string())])), Some(i128::from(seconds) * 1000));
        prop_assert_eq!(wait(&said(&format!("try again in {seconds} seconds"))), Some(i128::from(seconds) * 1000));
    }
}
