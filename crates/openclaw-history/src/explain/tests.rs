//! Recorded decisions as people read them.

use openclaw_runner::RotationKind;

use super::*;

/// A record of the log: what is not given is as in a plain failure of the first of two models.
fn record(members: serde_json::Value) -> Record {
    let mut line = serde_json::json!({
        "event": "model_fallback_decision", "decision": "candidate_failed", "runId": "run",
        "requestedProvider": "a", "requestedModel": "x", "candidateProvider": "a", "candidateModel": "x",
        "attempt": 1, "total": 2, "nextCandidateProvider": "b", "nextCandidateModel": "y",
    });
    let serde_json::Value::Object(members) = members else {
        panic!("an object")
    };
    line.as_object_mut().unwrap().extend(members);
    read(&line.to_string()).unwrap().remove(0)
}

fn told(records: &[Record]) -> String {
    stories(records).iter().map(ToString::to_string).collect()
}

#[test]
fn what_the_log_left_out_is_said() {
    let late = serde_json::json!({
        "candidateProvider": "b", "candidateModel": "y", "attempt": 2, "nextCandidateProvider": null,
        "reason": "auth", "suppressedDuplicateCount": 3,
    });
    let text = told(&[record(late)]);
    assert!(text.contains("1. no record"), "{text}");
    assert!(text.contains("left out 3 equal records"), "{text}");
}

#[test]
fn a_refused_credential_is_replaced_by_one_of_its_kind() {
    let login = "sign in again with `openclaw models auth login --provider 'a' --force`";
    let replace = |what: &str| format!("replace its {what} with `openclaw-gateway auth add a`");
    for (mode, failed, remedies) in [
        (Some("api_key"), "the key was refused", vec![replace("key")]),
        (Some("oauth"), "the login was refused", vec![login.to_owned()]),
        (Some("token"), "the token was refused", vec![replace("token")]),
        // What an older version wrote.
        (
            None,
            "the login was refused",
            vec![login.to_owned(), replace("key")],
        ),
    ] {
        let line = record(serde_json::json!({ "reason": "auth", "authMode": mode }));
        let text = told(&[line]);
        assert!(text.contains(&format!("failed: {failed}")), "{mode:?}: {text}");
        let all = [login.to_owned(), replace("key"), replace("token")];
        for remedy in all {
            let named = text.contains(&remedy);
            assert_eq!(named, remedies.contains(&remedy), "{mode:?}, {remedy}: {text}");
        }
    }
}

#[test]
fn a_credential_that_was_missing_is_told_as_that() {
    let rotation = serde_json::json!({
        "event": "embedded_run_failover_decision", "decision": "fallback_model", "runId": "run",
        "provider": "a", "model": "x", "profileId": "-", "failoverReason": "auth",
    });
    let rotation = read(&rotation.to_string()).unwrap().remove(0);
    let text = told(&[rotation, record(serde_json::json!({ "reason": "auth" }))]);
    assert!(text.contains("failed: there was no credential"), "{text}");
    assert!(
        text.contains("or store a key with `openclaw-gateway auth add a`"),
        "{text}"
    );
    assert!(!text.contains("sign in"), "{text}");
}

#[test]
fn a_login_that_this_machine_could_not_store_asks_for_room_and_not_for_a_new_login() {
    let line = serde_json::json!({ "reason": "auth", "authMode": "oauth", "code": "login_not_renewed" });
    let text = told(&[record(line)]);
    assert!(text.contains("this machine could not store a new one"), "{text}");
    assert!(text.contains("make room on this machine's disk"), "{text}");
    assert!(!text.contains("sign in"), "{text}");
}

#[test]
fn a_record_of_an_older_version_says_nothing_of_rests() {
    let old = serde_json::json!({ "decision": "skip_candidate", "reason": "rate_limit" });
    let text = told(&[record(old)]);
    assert!(text.contains("a/x is asked when its rest is over"), "{text}");
}

#[test]
fn a_model_is_back_with_the_first_of_its_credentials() {
    let (soon, mid, late) = (
        1_772_366_430_000_i64,
        1_772_366_460_000_i64,
        1_772_384_400_000_i64,
    );
    let failed = |profile: &str, until: i64| {
        let line = serde_json::json!({
            "event": "embedded_run_failover_decision", "decision": "rotate_profile", "runId": "run",
            "provider": "a", "model": "x", "profileId": profile, "failoverReason": "rate_limit",
            "restsUntil": until,
        });
        read(&line.to_string()).unwrap().remove(0)
    };
    for (rotations, last, expected) in [
        (&[("p", soon), ("q", late)] as &[_], Some(late), Some(soon)),
        (&[("p", late), ("q", soon)], Some(soon), Some(soon)),
        (&[("p", soon), ("p", mid), ("q", late)], Some(late), Some(mid)),
        (&[], Some(late), Some(late)),
        (&[("p", soon)], None, None),
    ] {
        let mut records: Vec<Record> = rotations.iter().map(|(id, until)| failed(id, *until)).collect();
        records.push(record(
            serde_json::json!({ "reason": "rate_limit", "restsUntil": last }),
        ));
        let story = stories(&records).remove(0);
        let until = story.visits[0].rests_until;
        assert_eq!(
            until.map(jiff::Timestamp::as_millisecond),
            expected,
            "{rotations:?}"
        );
    }
}

#[test]
fn a_provider_cannot_colour_or_break_the_text() {
    let loud = serde_json::json!({ "reason": "timeout", "errorPreview": "\u{1b}[31mred\nfake: line", "code": "a\nb" });
    let text = told(&[record(loud)]);
    assert!(
        text.contains("\"red fake: line\"") && text.contains("code a b"),
        "{text}"
    );
}

#[test]
fn a_run_that_ends_in_the_middle_is_open() {
    let story = stories(&[record(serde_json::json!({ "reason": "timeout" }))]).remove(0);
    assert_eq!(
        story.ending,
        Ending::Open {
            next: Some("b/y".to_owned())
        }
    );
}

#[test]
fn lengths_of_time_are_shown_in_two_units() {
    let shown: Vec<String> = [0, 999, 1_000, 59_999, 60_000, 3_599_999, 3_600_000, 90_000_000]
        .into_iter()
        .map(text::span)
        .collect();
    assert_eq!(
        shown,
        [
            "0 ms",
            "999 ms",
            "1.0 s",
            "59.9 s",
            "1 min 0 s",
            "59 min 59 s",
            "1 h 0 min",
            "25 h 0 min"
        ]
    );
}

/// A kind that is missing here does not compile, and one that is missing there cannot be read back.
#[test]
fn every_kind_can_be_read_back() {
    for kind in RotationKind::ALL {
        let place = match kind {
            RotationKind::FallbackModel => 0,
            RotationKind::InlineWait => 1,
            RotationKind::Redirect => 2,
            RotationKind::RetryRepaired => 3,
            RotationKind::RotateProfile => 4,
            RotationKind::SurfaceError => 5,
            RotationKind::WaitForReset => 6,
        };
        assert_eq!(RotationKind::ALL[place], kind);
        let read: RotationKind = serde_json::from_value(kind.as_str().into()).unwrap();
        assert_eq!(read, kind);
    }
    assert_eq!(RotationKind::ALL.len(), 7);
}
