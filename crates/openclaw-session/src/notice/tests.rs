//! When a notice is made, once, and with which text.

use std::fmt::Write as _;

use super::reason::attempt_text;
use super::*;
use crate::primary_probe::{clear_after_probe, probe_due};
use crate::testing::{at, auto, entry, id, key, model, user};

fn announced(selected: &str, active: &str) -> String {
    format!(
        r#""fallbackNoticeSelectedModel": "{selected}", "fallbackNoticeActiveModel": "{active}", "fallbackNoticeReason": "rate limit""#
    )
}

fn turn(selected: &str, active: &str, reason: &str) -> FinishedTurn {
    FinishedTurn {
        session_id: id("s1"),
        selected: model(selected),
        active: model(active),
        reason: reason.to_owned(),
    }
}

fn record(session: &SessionEntry, turn: &FinishedTurn) -> (SessionEntry, NoticeTransition) {
    let (next, outcome) = record_notice(session, &session.notice, turn, at(2000));
    (next.unwrap_or_else(|| session.clone()), outcome)
}

#[test]
fn s_10_3_transitions() {
    #[rustfmt::skip]
    let rows = [
        ("a first fallback",               String::new(),                "o/g", "a/f1", NoticeTransition::Entered),
        ("the same one",                   announced("o/g", "a/f1"),          "o/g", "a/f1", NoticeTransition::Sticky),
        ("S-10.3a: another fallback",      announced("o/g", "a/f1"),          "o/g", "b/f2", NoticeTransition::Entered),
        ("another selected model",         announced("o/h", "a/f1"),          "o/g", "a/f1", NoticeTransition::Entered),
        ("back again",                     announced("o/g", "a/f1"),          "o/g", "o/g",  NoticeTransition::Cleared),
        ("never away",                     String::new(),                "o/g", "o/g",  NoticeTransition::None),
        ("nothing real to clear",          announced("o/g", "o/g"),           "o/g", "o/g",  NoticeTransition::None),
        ("hazard 14: half a state",        r#""fallbackNoticeActiveModel": "a/f1""#.into(), "o/g", "o/g", NoticeTransition::None),
        ("hazard 14: half a state, away",  r#""fallbackNoticeActiveModel": "a/f1""#.into(), "o/g", "a/f1", NoticeTransition::Entered),
        ("S-10.2: the same model by CLI",  String::new(),                "anthropic/c", "claude-cli/c", NoticeTransition::None),
    ];
    for (name, members, selected, active, expected) in rows {
        let session = entry(&members);
        let (next, outcome) = record(&session, &turn(selected, active, "timeout"));
        assert_eq!(outcome, expected, "{name}");
        let stored = match expected {
            NoticeTransition::Entered => {
                entry(&announced(selected, active).replace("rate limit", "timeout")).notice
            }
            // S-10.3b: the stored reason stays.
            NoticeTransition::Sticky => session.notice,
            NoticeTransition::Cleared | NoticeTransition::None => NoticeState::default(),
        };
        assert_eq!(next.notice, stored, "{name}");
        let sends = matches!(expected, NoticeTransition::Entered | NoticeTransition::Cleared);
        assert_eq!(next.pending_notice().is_some(), sends, "{name}");
    }
}

#[test]
fn s_10_1_texts() {
    let mut shown = String::new();
    for (members, selected, active, reason) in [
        (String::new(), "openai/gpt", "anthropic/claude", "rate limit"),
        (
            announced("openai/gpt", "anthropic/claude"),
            "openai/gpt",
            "openai/gpt",
            "",
        ),
        (
            announced("openai/gpt", "anthropic/claude"),
            "anthropic/claude",
            "anthropic/claude",
            "",
        ),
        (
            String::new(),
            "openrouter/auto",
            "huggingface/org/model",
            "timeout (+2 more attempts)",
        ),
    ] {
        let (next, _) = record(&entry(&members), &turn(selected, active, reason));
        writeln!(shown, "{}", next.pending_notice().unwrap().text).unwrap();
    }
    writeln!(
        shown,
        "{}",
        no_visible_reply_text(&model("openai/gpt"), &model("anthropic/claude"))
    )
    .unwrap();
    insta::assert_snapshot!("texts", shown);
}

#[test]
fn s_10_2_the_selected_model() {
    for (members, expected) in [
        (String::new(), "o/requested"),
        (auto("a/f1", "o/g"), "o/g"),
        (user("a/m"), "o/requested"),
        (
            r#""modelOverride": "a/f1", "modelOverrideSource": "auto""#.to_owned(),
            "o/requested",
        ),
    ] {
        assert_eq!(
            selected_model(&entry(&members), &model("o/requested")),
            model(expected),
            "{members}"
        );
    }
}

#[test]
fn s_10_3c_a_successful_probe_is_announced() {
    let session = entry(&format!("{}, {}", auto("a/f1", "o/g"), announced("o/g", "a/f1")));
    let probe = probe_due(&session, &model("o/g"), at(2000)).unwrap();
    let before = session.notice.clone();
    let cleared = clear_after_probe(&session, &probe, at(2000)).unwrap();
    let (next, outcome) = record_notice(&cleared, &before, &turn("o/g", "o/g", ""), at(2000));
    assert_eq!(outcome, NoticeTransition::Cleared);
    let next = next.unwrap();
    let notice = next.pending_notice().unwrap();
    assert_eq!(notice.text, "↪️ Model Fallback cleared: o/g (was a/f1)");
    assert_eq!(notice.kind, NoticeKind::FallbackCleared);
    assert_eq!((notice.selected.as_str(), notice.active.as_str()), ("o/g", "o/g"));
    assert_eq!(notice.reason.as_deref(), Some("was a/f1"));
}

#[test]
fn s4_every_change_has_its_own_stable_id() {
    let (first, _) = record(&entry(""), &turn("o/g", "a/f1", "timeout"));
    let (second, _) = record(&first, &turn("o/g", "b/f2", "timeout"));
    assert_eq!(first.pending_notice().unwrap().id, "s1:1");
    assert_eq!(second.pending_notice().unwrap().id, "s1:2");
    let read_again: SessionEntry = serde_json::from_str(&serde_json::to_string(&second).unwrap()).unwrap();
    assert_eq!(read_again, second);
    let mut renewed = second;
    renewed.session_id = id("s2");
    let in_new_transcript = FinishedTurn {
        session_id: id("s2"),
        ..turn("o/g", "o/g", "")
    };
    let (third, _) = record(&renewed, &in_new_transcript);
    assert_eq!(third.pending_notice().unwrap().id, "s2:3");
}

#[test]
fn s4_handed_out_once_per_process_and_again_after_a_crash() {
    let (session, _) = record(&entry(""), &turn("o/g", "a/f1", "timeout"));
    let desk = NoticeOutbox::default();
    let notice = desk.take(&key("k"), &session).unwrap();
    // A parallel turn, or a sticky one, finds it taken.
    let (sticky, _) = record(&session, &turn("o/g", "a/f1", "other"));
    assert_eq!(desk.take(&key("k"), &sticky), None);
    // The process died before the acknowledgement was stored: the next one offers the same notice.
    assert_eq!(
        NoticeOutbox::default().take(&key("k"), &session),
        Some(notice.clone())
    );
    // Once acknowledged it is not offered again.
    let acknowledged = acknowledge_notice(&session, &notice.id).unwrap();
    desk.release(&key("k"), &notice.id);
    assert_eq!(desk.take(&key("k"), &acknowledged), None);
    assert_eq!(NoticeOutbox::default().take(&key("k"), &acknowledged), None);
    assert_eq!(acknowledge_notice(&acknowledged, &notice.id), None);
}

#[test]
fn s4_a_late_acknowledgement_spares_the_next_notice() {
    let (first, _) = record(&entry(""), &turn("o/g", "a/f1", "timeout"));
    let (second, _) = record(&first, &turn("o/g", "b/f2", "timeout"));
    assert_eq!(
        acknowledge_notice(&second, &first.pending_notice().unwrap().id),
        None
    );
}

fn attempt<'a>(model: &'a ModelRef, reason: &'a str, error: &'a str) -> FailedAttempt<'a> {
    FailedAttempt {
        model,
        reason: Some(reason).filter(|reason| !reason.is_empty()),
        code: None,
        status: None,
        error,
    }
}

#[test]
fn s_10_4b_one_attempt_in_a_few_words() {
    let m = model("o/g");
    #[rustfmt::skip]
    let rows = [
        ("a hint word",                "rate_limit", "Too many requests, slow down",    "Too many requests, slow down"),
        ("a 5xx number",               "overloaded", "upstream said 503",               "upstream said 503"),
        ("a longer number is none",    "overloaded", "job 5031 failed",                 "overloaded"),
        ("whole words only",           "rate_limit", "Throttled by the gateway",        "rate limit"),
        ("the bare word",              "rate_limit", "throttl: wait",                   "throttl: wait"),
        ("hyphen and blank",           "timeout",    "please Retry-After 5",            "please Retry-After 5"),
        ("a reason without previews",  "billing",    "quota of the account is used up", "billing"),
        ("no hint",                    "timeout",    "socket hang up",                  "timeout"),
        ("unknown error says nothing", "rate_limit", "429 Unknown error",               "rate limit"),
        ("the warning sign goes",      "rate_limit", "⚠️  quota\n  exceeded",           "quota exceeded"),
        ("nothing but the sign",       "rate_limit", "⚠️ ",                             "rate limit"),
        ("underscores",                "model_not_found", "404",                        "model not found"),
        ("without a reason",           "",           "  it   broke ",                   "it broke"),
    ];
    for (name, reason, error, expected) in rows {
        assert_eq!(attempt_text(&attempt(&m, reason, error)), expected, "{name}");
    }
    let coded = FailedAttempt {
        code: Some("E1"),
        status: Some(418),
        ..attempt(&m, "", "text")
    };
    assert_eq!(attempt_text(&coded), "E1");
    assert_eq!(attempt_text(&FailedAttempt { code: None, ..coded }), "HTTP 418");
}

#[test]
fn s_10_4a_the_first_attempt_and_how_many_more() {
    let m = model("o/g");
    let failed = [
        attempt(&m, "timeout", ""),
        attempt(&m, "billing", ""),
        attempt(&m, "auth", ""),
    ];
    for (count, expected) in [
        (0, "selected model unavailable"),
        (1, "timeout"),
        (2, "timeout (+1 more attempts)"),
        (3, "timeout (+2 more attempts)"),
    ] {
        assert_eq!(reason_summary(&failed[..count]), expected);
    }
}

#[test]
fn s_10_4a_long_texts_are_cut_between_characters() {
    for (text, length, end) in [
        ("x".repeat(80), 80, "x"),
        ("x".repeat(81), 80, "x…"),
        (format!("{} {}", "x".repeat(78), "y".repeat(9)), 79, "x…"),
        ("é".repeat(200), 80, "é…"),
    ] {
        let cut = reason::clip(&text);
        assert_eq!((cut.chars().count(), cut.ends_with(end)), (length, true), "{cut}");
    }
}

#[test]
fn s4_sessions_that_share_a_transcript_are_told_one_by_one() {
    let (session, _) = record(&entry(""), &turn("o/g", "a/f1", "timeout"));
    let desk = NoticeOutbox::default();
    assert!(desk.take(&key("one"), &session).is_some());
    assert!(desk.take(&key("other"), &session).is_some());
    assert_eq!(desk.take(&key("one"), &session), None);
}

#[test]
fn hazard_5_a_late_turn_tells_a_new_session_nothing() {
    let mut renewed = entry("");
    renewed.session_id = id("s2");
    let late = record_notice(
        &renewed,
        &renewed.notice,
        &turn("o/g", "a/f1", "timeout"),
        at(2000),
    );
    assert_eq!(late, (None, NoticeTransition::None));
}

#[test]
fn s_10_1a_and_s_10_1b_the_cleared_text_without_a_model_before_is_english_too() {
    for was in [None, Some("o/g")] {
        assert_eq!(cleared_text("o/g", was), "↪️ Model Fallback cleared: o/g");
    }
    assert_eq!(
        cleared_text("o/g", Some("a/f1")),
        "↪️ Model Fallback cleared: o/g (was a/f1)"
    );
}

#[test]
fn s_10_4_and_s_10_6_one_text_serves_the_notice_and_the_attempts_of_the_event() {
    let failed = model("o/g");
    let attempt = FailedAttempt {
        model: &failed,
        reason: Some("model_not_found"),
        code: None,
        status: Some(404),
        error: "no such model",
    };
    assert_eq!(attempt_text(&attempt), "model not found");
    assert_eq!(
        reason_summary(&[attempt, attempt]),
        "model not found (+1 more attempts)"
    );
}

#[test]
fn s_10_5a_the_notice_is_stored_with_the_state_and_stays_until_it_was_handed_over() {
    let (session, _) = record(&entry(""), &turn("o/g", "a/f1", "timeout"));
    let stored: SessionEntry = serde_json::from_str(&serde_json::to_string(&session).unwrap()).unwrap();
    let offered = NoticeOutbox::default().take(&key("k"), &stored).unwrap();
    let handed_over = acknowledge_notice(&stored, &offered.id).unwrap();
    assert_eq!(handed_over.notice, session.notice);
    assert_eq!(NoticeOutbox::default().take(&key("k"), &handed_over), None);
}

#[test]
fn s_10_5b_a_fallback_without_anything_to_see() {
    assert_eq!(
        no_visible_reply_text(&model("o/g"), &model("a/f1")),
        "⚠️ I couldn't reach the configured model backend o/g. \
         Fallback used a/f1, but it produced no visible reply."
    );
}
