//! The events, field by field.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use openclaw_chain::Requested;
use openclaw_classify::{Reason, RuleId};
use serde_json::{Map, Value};
use tracing_subscriber::fmt::MakeWriter;

use super::*;
use crate::record::decision::{DecisionKind, FallbackStep, StepOutcome};
use crate::record::error_fields::ErrorFields;
use crate::record::rotation::RotationKind;
use crate::record::summary::{AttemptRecord, CandidateOutcome};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// The fields of the one event that `emit` writes.
fn fields(emit: impl FnOnce()) -> Map<String, Value> {
    let lines = Lines::default();
    let subscriber = tracing_subscriber::fmt()
        .json()
        .with_max_level(Level::TRACE)
        .with_writer(lines.clone())
        .finish();
    tracing::subscriber::with_default(subscriber, emit);
    let line = lines.0.lock().unwrap().clone();
    let mut event: Map<String, Value> = serde_json::from_slice(&line).unwrap();
    let Some(Value::Object(fields)) = event.remove("fields") else {
        panic!("no fields in {event:?}")
    };
    fields
}

fn decision() -> Decision {
    let text = |text: &str| Some(text.to_owned());
    let shared = |text: &str| Some(Arc::from(text));
    Decision {
        kind: DecisionKind::CandidateFailed,
        run_id: "run-1".to_owned(),
        session_id: Some("session-1".parse().unwrap()),
        lane: text("main"),
        requested: Requested {
            provider: "Anthropic".to_owned(),
            model: "opus".to_owned(),
        },
        candidate: "anthropic/claude-opus-4-8".parse().unwrap(),
        attempt: 1,
        total: 2,
        reason: Some(Reason::RateLimit),
        rule: Some(RuleId::from_static("some.rule")),
        status: Some(429),
        code: text("rate_limit_exceeded"),
        error: ErrorFields {
            error_preview: shared("slow down"),
            error_hash: shared("sha256:000000000001"),
            error_fingerprint: shared("sha256:000000000002"),
            http_code: shared("429"),
            provider_error_type: shared("rate_limit_error"),
            provider_error_message_preview: shared("slow"),
            request_id_hash: shared("sha256:000000000003"),
        },
        step: Some(FallbackStep {
            from_model: "anthropic/claude-opus-4-8".parse().unwrap(),
            to_model: Some("openai/gpt-5.5".parse().unwrap()),
            from_failure_reason: Some(Reason::RateLimit),
            from_failure_detail: shared("slow"),
            chain_position: 1,
            final_outcome: StepOutcome::NextFallback,
        }),
        next_candidate: Some("openai/gpt-5.5".parse().unwrap()),
        is_primary: true,
        requested_model_matched: true,
        fallback_configured: true,
        allow_transient_cooldown_probe: Some(true),
        profile_count: Some(3),
        last_resort: Some(true),
        previous_attempts: Vec::new(),
        auth_mode: Some("api_key"),
        rests_until: Some(Timestamp::from_millisecond(1_772_366_430_000).unwrap()),
        elapsed: Duration::from_millis(1_250),
        suppressed_duplicate_count: 2,
    }
}

#[test]
fn r_12_1_the_event_carries_every_field_of_the_record() {
    let decision = decision();
    let mut expected = serde_json::to_value(&decision).unwrap();
    let record = expected.as_object_mut().unwrap();
    // The message of an event is its console text; a list has no place in an event and follows from the decision.
    let message = record.remove("consoleMessage").unwrap();
    record.remove("tags");
    record.insert("message".to_owned(), message);
    assert_eq!(Value::Object(fields(|| emit_decision(&decision))), expected);
}

#[test]
fn r_12_1_what_is_not_known_is_absent() {
    let mut bare = decision();
    bare.kind = DecisionKind::ProbeCooldownCandidate;
    (
        bare.session_id,
        bare.lane,
        bare.rule,
        bare.status,
        bare.code,
        bare.step,
    ) = Default::default();
    (
        bare.error,
        bare.next_candidate,
        bare.last_resort,
        bare.rests_until,
        bare.auth_mode,
    ) = Default::default();
    bare.suppressed_duplicate_count = 0;
    let shown = fields(|| emit_decision(&bare));
    for name in [
        "sessionId",
        "lane",
        "rule",
        "status",
        "errorPreview",
        "fallbackStepType",
        "nextCandidateModel",
        "authMode",
        "restsUntil",
        "suppressedDuplicateCount",
    ] {
        assert!(!shown.contains_key(name), "{name} in {shown:?}");
    }
}

#[test]
fn what_is_new_is_a_warning_and_what_each_request_repeats_is_a_detail() {
    for (kind, level) in [
        (DecisionKind::CandidateFailed, "WARN"),
        (DecisionKind::CandidateSucceeded, "INFO"),
        (DecisionKind::ProbeCooldownCandidate, "DEBUG"),
        (DecisionKind::SkipCandidate, "DEBUG"),
    ] {
        let decision = Decision { kind, ..decision() };
        let lines = Lines::default();
        let subscriber = tracing_subscriber::fmt()
            .json()
            .with_max_level(Level::TRACE)
            .with_writer(lines.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, || emit_decision(&decision));
        let line = lines.0.lock().unwrap().clone();
        let event: Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(event["level"], level, "{kind:?}");
    }
}

#[test]
fn r_12_7_the_rotation_event() {
    let rotation = RotationDecision {
        run_id: "run-1".to_owned(),
        kind: RotationKind::RotateProfile,
        reason: Reason::Billing,
        candidate: "openai/gpt-5.5".parse().unwrap(),
        profile_hash: "0123456789ab".to_owned(),
        auth_mode: Some("oauth"),
        status: Some(402),
        rests_until: Some(Timestamp::from_millisecond(1_772_384_400_000).unwrap()),
        elapsed: Duration::from_millis(40),
        error: ErrorFields {
            error_preview: Some("no credit".into()),
            error_hash: Some("sha256:000000000001".into()),
            error_fingerprint: Some("sha256:000000000002".into()),
            ..ErrorFields::default()
        },
        redirected_to: Some("groq/llama".parse().unwrap()),
    };
    let mut shown = fields(|| emit_rotation(&rotation));
    shown.remove("message");
    assert_eq!(Value::Object(shown), serde_json::to_value(&rotation).unwrap());
}

/// What is written as plain text, all of it.
fn text(emit: impl FnOnce()) -> String {
    let lines = Lines::default();
    let subscriber = tracing_subscriber::fmt().with_writer(lines.clone()).finish();
    tracing::subscriber::with_default(subscriber, emit);
    String::from_utf8(lines.0.lock().unwrap().clone()).unwrap()
}

#[test]
fn r_3_1_a_missing_model_that_was_replaced_is_said_aloud() {
    let mut success = decision();
    success.kind = DecisionKind::CandidateSucceeded;
    success.candidate = "openai/gpt-5.5".parse().unwrap();
    success.is_primary = false;
    let said = "Model \"anthropic/claude-opus-4-8\" not found. Fell back to \"openai/gpt-5.5\".";
    assert!(!text(|| emit_decision(&success)).contains(said));
    success.previous_attempts.push(AttemptRecord {
        candidate: "anthropic/claude-opus-4-8".parse().unwrap(),
        error: "no such model".to_owned(),
        reason: Some(Reason::ModelNotFound),
        rule: None,
        status: Some(404),
        code: None,
        auth_mode: None,
        outcome: CandidateOutcome::Failed,
        earlier: Vec::new(),
        fields: ErrorFields::default(),
    });
    assert!(text(|| emit_decision(&success)).contains(said));
}
