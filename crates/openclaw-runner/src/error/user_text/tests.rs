//! The text that a person reads, for every set of reasons.

use std::fmt::Write as _;

use openclaw_ids::ModelRef;

use super::*;
use crate::record::error_fields::ErrorFields;
use crate::record::summary::CandidateOutcome;
use crate::request::ChainKind;

const NOW: i64 = 1_772_366_400_000;

fn at(offset: i64) -> Timestamp {
    Timestamp::from_millisecond(NOW + offset).unwrap()
}

fn record(model: &str, reason: Reason, error: &str) -> AttemptRecord {
    AttemptRecord {
        candidate: model.parse::<ModelRef>().unwrap(),
        error: error.to_owned(),
        reason: Some(reason),
        rule: None,
        status: None,
        code: None,
        auth_mode: None,
        outcome: CandidateOutcome::Failed,
        earlier: Vec::new(),
        fields: ErrorFields::default(),
    }
}

fn exhausted_with(attempts: Vec<AttemptRecord>, soonest: Option<Timestamp>) -> String {
    let summary = FallbackSummaryError {
        attempts,
        kind: ChainKind::Text,
        soonest_cooldown_expiry: soonest,
        reauthenticate: None,
    };
    RunError::Exhausted(summary, Box::default()).user_text(at(0))
}

fn exhausted_by(reasons: &[Reason], soonest: Option<Timestamp>) -> String {
    let models = ["anthropic/claude", "openai/gpt", "groq/llama"];
    let attempts = reasons
        .iter()
        .zip(models)
        .map(|(reason, model)| record(model, *reason, "it said so"))
        .collect();
    exhausted_with(attempts, soonest)
}

#[test]
fn a_full_disk_asks_for_no_new_login() {
    let not_renewed = || AttemptRecord {
        code: Some(crate::LOGIN_NOT_RENEWED.to_owned()),
        ..record("openai/gpt", Reason::Auth, "the disk is full")
    };
    let text = exhausted_with(vec![not_renewed()], None);
    assert!(
        text.contains("its disk is full") && !text.contains("Sign in"),
        "{text}"
    );
    let refused = record("groq/llama", Reason::Auth, "no such key");
    let text = exhausted_with(vec![not_renewed(), refused], None);
    assert!(text.contains("Sign in again"), "{text}");
}

#[test]
fn m1_bl_80_the_text_follows_from_the_set_of_reasons() {
    use Reason::{Auth, AuthPermanent, Billing, Overloaded, RateLimit, Timeout};
    let mut shown = String::new();
    for reasons in [
        &[RateLimit, RateLimit][..],
        &[RateLimit, Overloaded],
        &[Billing, Billing],
        &[Auth, AuthPermanent],
        &[RateLimit, Timeout],
        &[Billing, RateLimit, Auth],
        &[],
    ] {
        let names: Vec<_> = reasons.iter().map(|reason| reason.as_str()).collect();
        writeln!(
            shown,
            "[{}]\n{}\n",
            names.join(" "),
            exhausted_by(reasons, Some(at(90_000)))
        )
        .unwrap();
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn r_11_3_the_countdown_at_its_boundaries() {
    for (offset, expected) in [
        (Some(0), RATE_LIMITED),
        (Some(-1), RATE_LIMITED),
        (None, RATE_LIMITED),
        (Some(1), "⚠️ Rate-limited — ready in ~1s. Please wait a moment."),
        (
            Some(1_001),
            "⚠️ Rate-limited — ready in ~2s. Please wait a moment.",
        ),
        (
            Some(60_000),
            "⚠️ Rate-limited — ready in ~60s. Please wait a moment.",
        ),
        (
            Some(60_001),
            "⚠️ Rate-limited — ready in ~2 min. Please try again shortly.",
        ),
        (
            Some(300_000),
            "⚠️ Rate-limited — ready in ~5 min. Please try again shortly.",
        ),
    ] {
        assert_eq!(
            exhausted_by(&[Reason::RateLimit], offset.map(at)),
            expected,
            "{offset:?}"
        );
    }
}

#[test]
fn r_11_1_a_caller_that_cancelled_is_told_nothing() {
    assert_eq!(RunError::Aborted(Box::default()).user_text(at(0)), "");
}

/// A run that ends with one failure of its own, after these others.
fn surfaced_after(reasons: &[Reason], last: Reason) -> String {
    let models = ["anthropic/claude", "openai/gpt"];
    let mut attempts: Vec<_> = reasons
        .iter()
        .zip(models)
        .map(|(reason, model)| record(model, *reason, "it said so"))
        .collect();
    let record = record("groq/llama", last, "it said so");
    attempts.push(record.clone());
    let failed = crate::error::FailedAttempt {
        failure: openclaw_classify::Failure::default(),
        verdict: openclaw_classify::classify(&openclaw_classify::Failure::default(), at(0)).unwrap(),
        record,
    };
    let report = crate::error::RunReport {
        attempts,
        soonest_cooldown_expiry: Some(at(90_000)),
        ..crate::error::RunReport::default()
    };
    RunError::Failed(Box::new(failed), Box::new(report)).user_text(at(0))
}

#[test]
fn m1_bl_82_the_last_failure_is_not_blamed_for_the_others() {
    use Reason::{Auth, Billing, Format, RateLimit, Unclassified};
    let mut shown = String::new();
    for (earlier, last) in [
        (&[RateLimit, RateLimit][..], Unclassified),
        (&[Billing], Format),
        (&[Auth], Auth),
        (&[], Unclassified),
        (&[RateLimit], RateLimit),
    ] {
        let names: Vec<_> = earlier
            .iter()
            .chain([&last])
            .map(|reason| reason.as_str())
            .collect();
        writeln!(
            shown,
            "[{}]\n{}\n",
            names.join(" "),
            surfaced_after(earlier, last)
        )
        .unwrap();
    }
    insta::assert_snapshot!(shown);
}
