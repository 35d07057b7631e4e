//! The tables of the usage check.

use super::*;
use crate::testing::{DAY, HOUR, MINUTE, SECOND, START, at, failure, offset, on_model, provider};
use crate::{BlockedSource, Lane, ProfileUsage};
use serde_json::json;

fn read(status: u16, body: &Value) -> (UsageEffect, &'static str) {
    let finding = ChatGptUsageProbe.read(
        UsageReply::Answered {
            status,
            body: Some(body),
        },
        at(0),
    );
    (finding.effect, finding.label)
}

fn cooldown_of(seconds: u64) -> UsageEffect {
    UsageEffect::Cooldown(Duration::from_secs(seconds))
}

fn until(seconds: i64) -> UsageEffect {
    UsageEffect::BlockedUntil(at(seconds * 1000))
}

#[test]
fn cooldown_8_3_http_answers_and_failures() {
    for (status, expected) in [
        (401, (cooldown_of(12 * 3600), "wham_token_expired")),
        (403, (cooldown_of(24 * 3600), "wham_account_dead")),
        (199, (cooldown_of(300), "wham_http_error")),
        (300, (cooldown_of(300), "wham_http_error")),
        (429, (cooldown_of(300), "wham_http_error")),
        (500, (cooldown_of(300), "wham_http_error")),
        (200, (cooldown_of(30), "wham_probe_failed")),
        (299, (cooldown_of(30), "wham_probe_failed")),
    ] {
        assert_eq!(read(status, &json!({})), expected, "{status}");
    }
    let failed = ChatGptUsageProbe.read(UsageReply::Failed, at(0));
    assert_eq!(
        (failed.effect, failed.label),
        (cooldown_of(30), "wham_probe_failed")
    );
    let no_json = ChatGptUsageProbe.read(
        UsageReply::Answered {
            status: 200,
            body: None,
        },
        at(0),
    );
    assert_eq!(no_json, failed);
    assert_eq!(
        read(200, &json!({"rate_limit": 5})),
        (cooldown_of(30), "wham_probe_failed")
    );
}

#[test]
fn cooldown_8_3_the_windows_of_the_body() {
    let used = |percent: f64, reset: i64| json!({"used_percent": percent, "reset_after_seconds": reset});
    let epoch = START / 1000;
    for (limit, expected) in [
        (
            json!({"limit_reached": false, "primary_window": used(100.0, 900)}),
            (cooldown_of(15), "wham_burst_contention"),
        ),
        (
            json!({"primary_window": used(5.0, 900)}),
            (until(900), "wham_personal_rolling"),
        ),
        (
            json!({"primary_window": {"used_percent": 100}}),
            (cooldown_of(30), "wham_probe_failed"),
        ),
        (
            json!({"limit_reached": true}),
            (cooldown_of(30), "wham_probe_failed"),
        ),
        (
            json!({"primary_window": used(100.0, 60), "secondary_window": used(100.0, 900)}),
            (until(900), "wham_team_weekly"),
        ),
        (
            json!({"primary_window": used(100.0, 60), "secondary_window": {"used_percent": 100}}),
            (cooldown_of(30), "wham_probe_failed"),
        ),
        (
            json!({"primary_window": used(100.0, 60), "secondary_window": used(99.9, 900)}),
            (until(60), "wham_team_rolling"),
        ),
        (
            json!({"primary_window": {"used_percent": 100}, "secondary_window": used(1.0, 9)}),
            (cooldown_of(30), "wham_probe_failed"),
        ),
        (
            json!({"primary_window": used(99.9, 60), "secondary_window": used(60.0, 900)}),
            (cooldown_of(30), "wham_probe_failed"),
        ),
        (
            json!({"secondary_window": used(60.0, 900)}),
            (cooldown_of(30), "wham_probe_failed"),
        ),
        (
            json!({"primary_window": {"reset_after_seconds": 1.5, "reset_at": epoch + 9}}),
            (cooldown_of(30), "wham_probe_failed"),
        ),
        (
            json!({"primary_window": {"reset_after_seconds": 0, "reset_at": epoch + 9}}),
            (until(9), "wham_personal_rolling"),
        ),
        (
            json!({"primary_window": {"reset_at": epoch - 9}}),
            (until(0), "wham_personal_rolling"),
        ),
        (
            json!({"primary_window": {"reset_at": -9}}),
            (cooldown_of(30), "wham_probe_failed"),
        ),
        (
            json!({"primary_window": {"reset_at": "soon"}}),
            (cooldown_of(30), "wham_probe_failed"),
        ),
    ] {
        assert_eq!(read(200, &json!({ "rate_limit": limit })), expected, "{limit}");
    }
    let fraction = json!({"rate_limit": {"primary_window": {"reset_at": 1_750_000_009.9}}});
    assert_eq!(read(200, &fraction).0, until(9), "cut");
}

#[test]
fn cooldown_8_3_who_is_asked() {
    for reason in Reason::all() {
        let explained = [
            "rate_limit",
            "empty_response",
            "no_error_details",
            "unclassified",
            "unknown",
        ];
        let asked = |id: &str, credential| ChatGptUsageProbe.request(&provider(id), reason, credential);
        assert_eq!(
            asked("OpenAI", UsageCredential::Login).is_some(),
            explained.contains(&reason.as_str()),
            "{reason}"
        );
        assert_eq!(asked("openai", UsageCredential::Other), None);
        assert_eq!(asked("anthropic", UsageCredential::Login), None);
    }
}

#[test]
fn cooldown_8_3_the_request() {
    let request = ChatGptUsageProbe.request(&provider("openai"), Reason::RateLimit, UsageCredential::Login);
    assert_eq!(
        request,
        Some(&UsageRequest {
            url: "https://chatgpt.com/backend-api/wham/usage",
            headers: &[("accept", "application/json"), ("originator", "openclaw")],
            account_header: "chatgpt-account-id",
            timeout: Duration::from_secs(3),
        })
    );
}

#[test]
fn cooldown_8_3_a_finding_refines_the_failure() {
    let record = |effect: UsageEffect| {
        let finding = UsageFinding { effect, label: "" };
        ProfileUsage::default().failed(0, &finding.refine(failure(Reason::RateLimit), at(0)))
    };
    let blocked = record(until(3600));
    assert_eq!(
        blocked.span(&Lane::Blocked),
        Some((0, HOUR)),
        "the account is blocked"
    );
    assert_eq!(blocked.span(&on_model("m")), None);
    let expired = record(cooldown_of(12 * 3600));
    assert_eq!(
        expired.span(&on_model("m")),
        Some((0, 12 * HOUR)),
        "stays scoped to the failing model"
    );
    assert_eq!(
        record(cooldown_of(15)).span(&on_model("m")),
        Some((0, 30 * SECOND)),
        "D7: the ladder is longer"
    );
    assert_eq!(
        blocked.windows[&Lane::Blocked].origin.as_ref().unwrap().source,
        BlockedSource::Wham
    );
    assert_eq!(
        blocked.windows[&Lane::Blocked].origin.as_ref().unwrap().model,
        None
    );
    assert_eq!(
        record(until(0)).span(&Lane::Profile),
        Some((0, 30 * SECOND)),
        "already reset"
    );
}

#[test]
fn bl_38_an_absurd_reset_of_the_check_is_not_believed() {
    for (seconds, blocked) in [
        (35 * 24 * 3600, true),
        (35 * 24 * 3600 + 1, false),
        (i64::MAX / 1000, false),
    ] {
        let body = json!({"rate_limit": {"primary_window": {"reset_after_seconds": seconds}}});
        let reply = UsageReply::Answered {
            status: 200,
            body: Some(&body),
        };
        let usage = ProfileUsage::default().failed(
            0,
            &ChatGptUsageProbe
                .read(reply, at(0))
                .refine(failure(Reason::RateLimit), at(0)),
        );
        assert_eq!(usage.windows.contains_key(&Lane::Blocked), blocked, "{seconds}");
        assert_eq!(usage.span(&Lane::Profile), Some((0, 30 * SECOND)), "{seconds}");
    }
}

#[test]
fn d6_only_a_block_marks_what_the_failure_alone_does_not() {
    for reason in EXPLAINABLE {
        let record = |effect: UsageEffect| {
            let finding = UsageFinding { effect, label: "" };
            ProfileUsage::default().failed(0, &finding.refine(failure(*reason), at(0)))
        };
        let blocked = record(until(3600));
        assert_eq!(blocked.span(&Lane::Blocked), Some((0, HOUR)), "{reason}");
        assert_eq!(blocked.windows[&Lane::Blocked].reason, Reason::RateLimit);
        let marked = *reason == Reason::RateLimit;
        assert_eq!(record(cooldown_of(300)).windows.is_empty(), !marked, "{reason}");
    }
}

fn codex(report: &Value) -> Option<i64> {
    codex_reset(report, at(0)).map(offset)
}

/// A window that is `percent` used and resets `seconds` after now.
fn window(percent: i64, seconds: i64) -> Value {
    json!({"usedPercent": percent, "resetsAt": START / 1000 + seconds})
}

#[test]
fn cooldown_8_2_the_reset_of_a_snapshot() {
    for (snapshot, expected) in [
        (
            json!({"primary": window(100, 100), "secondary": window(5, 9000)}),
            Some(100),
        ),
        (
            json!({"primary": window(100, 100), "secondary": window(100, 9000)}),
            Some(9000),
        ),
        (
            json!({"primary": window(99, 100), "secondary": window(5, 9000)}),
            None,
        ),
        (
            json!({"rateLimitReachedType": "x", "primary": {"resetsAt": START / 1000 + 100}, "secondary": {"resetsAt": START / 1000 + 5000}}),
            Some(100),
        ),
        (
            json!({"primary": window(100, -1), "secondary": window(10, 999)}),
            Some(999),
        ),
        (json!({"primary": window(100, 0)}), None),
        (
            json!({"rate_limit_reached_type": "x", "primary": {"used_percent": 1, "resets_at": START / 1000 + 7}}),
            Some(7),
        ),
        (
            json!({"rateLimitReachedType": "  ", "primary": window(1, 7)}),
            None,
        ),
        (json!({"limitName": "x"}), None),
        (json!("x"), None),
    ] {
        assert_eq!(
            codex(&snapshot),
            expected.map(|seconds: i64| seconds * SECOND),
            "{snapshot}"
        );
    }
    let fraction = json!({"primary": {"usedPercent": 100, "resetsAt": 1_750_000_000.25}});
    assert_eq!(codex(&fraction), Some(250));
}

#[test]
fn cooldown_8_2_where_snapshots_are_found_and_which_one_counts() {
    let full = |id: &str, seconds| json!({"limitId": id, "primary": window(100, seconds)});
    let nameless = |seconds| json!({"primary": window(100, seconds)});
    for (report, expected) in [
        (json!([[full("codex", 1)], full("a", 2)]), Some(1)),
        (json!({"rateLimits": full("a", 3)}), Some(3)),
        (
            json!({"rate_limits": {"data": {"items": [nameless(4)]}}}),
            Some(4),
        ),
        (
            json!({"rateLimitsByLimitId": {"b": full("b", 2), "a": full("a", 1)}}),
            Some(1),
        ),
        (
            json!({"rate_limits_by_limit_id": {"a": full("a", 1), "codex": full("codex", 5)}}),
            Some(5),
        ),
        (
            json!({"rateLimits": full("a", 1), "data": [nameless(6)]}),
            Some(6),
        ),
        (
            json!({"rateLimitsByLimitId": {"b": nameless(8), "codex": nameless(9)}}),
            Some(9),
        ),
        (
            json!({"rateLimits": {"primary": window(10, 1)}, "data": [full("a", 7)]}),
            Some(7),
        ),
        (json!({"elsewhere": full("a", 1)}), None),
    ] {
        assert_eq!(
            codex(&report),
            expected.map(|seconds: i64| seconds * SECOND),
            "{report}"
        );
    }
}

#[test]
fn cooldown_8_2_a_report_opens_the_blocked_window() {
    let report = json!({"rateLimits": {"primary": window(100, 2 * 24 * 3600)}});
    let reset = codex_reset(&report, at(0)).unwrap();
    let event = failure(Reason::RateLimit).account_wide().hinting(offset(reset));
    assert_eq!(
        ProfileUsage::default()
            .failed(MINUTE, &event)
            .span(&Lane::Blocked),
        Some((MINUTE, 2 * DAY))
    );
}
