//! `session`.

use serde_json::Value;

use super::Desk;

const SESSIONS: &str = r#"{
  "agent:main:one": {"sessionId": "s1", "updatedAt": 1764460000000, "providerOverride": "anthropic", "modelOverride": "claude",
    "modelOverrideSource": "auto", "modelOverrideFallbackOriginProvider": "openai", "modelOverrideFallbackOriginModel": "gpt",
    "fallbackNoticeSelectedModel": "openai/gpt", "fallbackNoticeActiveModel": "anthropic/claude",
    "fallbackNoticeReason": "rate limit", "authProfileOverride": "anthropic:default", "authProfileOverrideSource": "auto",
    "failover": {"fallbackSince": 1764450000000, "recentRuns": [{"runId": "oc-0000000000000001-1", "at": 1764460000000, "steps": [
      {"model": "openai/gpt", "outcome": "failed", "reason": "rate_limit", "status": 429, "next": "anthropic/claude"},
      {"model": "anthropic/claude", "outcome": "succeeded"}]}]}},
  "agent:main:two": {"sessionId": "s2", "updatedAt": 1764400000000, "modelProvider": "openai", "model": "gpt"}
}"#;

fn desk() -> Desk {
    let desk = Desk::new().with_keys();
    desk.write("agents/main/sessions/sessions.json", SESSIONS);
    desk
}

#[test]
fn sessions_are_shown_set_reset_and_exported() {
    let desk = desk();
    let (one, two) = ("agent:main:one", "agent:main:two");
    let told = desk.transcript(&[
        &["session", "list"] as &[&str],
        &["session", "list", "--on-fallback"],
        &["session", "show", one],
        &["chain", "--session", one],
        &["status"],
        &[
            "session",
            "set",
            two,
            "--model",
            "anthropic/claude",
            "--profile",
            "anthropic:default",
        ],
        &["session", "set", two, "--profile", "openai:work"],
        &["session", "show", two],
        &["chain", "--session", two],
        &["session", "set", two, "--model", "default"],
        &["session", "set", two, "--profile", "openai:work"],
        &["session", "reset", one],
        &["session", "show", one],
        &["session", "list"],
        &["session", "export", "--output", "out.json"],
        &["session", "export", "--output", "out.json"],
    ]);
    insta::assert_snapshot!("sessions", told);
    let exported: Value = serde_json::from_slice(&std::fs::read(desk.path("out.json")).unwrap()).unwrap();
    assert_eq!(exported[two]["sessionId"], "s2");
    assert_eq!(exported[one].get("failover"), None);
}

#[test]
fn f_11_a_choice_begins_a_session_that_was_not_seen_yet() {
    let desk = desk();
    let key = "agent:main:new";
    for (model, selected) in [("groq/llama", "groq/llama"), ("default", "openai/gpt")] {
        let set = desk
            .fine(&["session", "set", key, "--model", model, "--json"])
            .json();
        assert_eq!(set["selected"], selected);
        let shown = desk.fine(&["session", "show", key, "--json"]).json();
        assert_eq!(shown["sessionId"], set["sessionId"]);
    }
    let other = desk.fine(&["session", "set", "agent:main:other", "--model", "default"]);
    assert!(other.output.contains("openai/gpt"), "{other:?}");
    let listed = desk.fine(&["session", "list", "--json"]).json();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 4, "{listed}");
}

#[test]
fn looking_at_sessions_of_the_other_program_takes_nothing_over() {
    let desk = desk();
    desk.fine(&["session", "list"]);
    assert!(
        !desk
            .path("agents/main/sessions/openclaw-sessions.sqlite")
            .exists()
    );
    desk.fine(&["session", "set", "agent:main:two", "--model", "groq/llama"]);
    assert!(
        desk.path("agents/main/sessions/openclaw-sessions.sqlite")
            .exists()
    );
    let written = std::fs::read_to_string(desk.path("agents/main/sessions/sessions.json")).unwrap();
    assert_eq!(written, SESSIONS);
}

#[test]
fn a_session_file_that_is_still_empty_hides_no_sessions_of_the_other_program() {
    let desk = desk();
    // An older version left it, or a process that ended before it wrote anything.
    desk.write("agents/main/sessions/openclaw-sessions.sqlite", "");
    let before = desk.contents();
    let listed = desk.fine(&["session", "list", "--json"]).json();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 2, "{listed}");
    let exported = desk.fine(&["session", "export"]).json();
    assert_eq!(exported["agent:main:two"]["sessionId"], "s2");
    assert!(desk.contents() == before, "a look changes nothing");
    desk.fine(&["session", "reset", "agent:main:two"]);
    let exported = desk.fine(&["session", "export"]).json();
    assert_eq!(exported["agent:main:one"]["sessionId"], "s1");
    assert_ne!(exported["agent:main:two"]["sessionId"], "s2");
}

#[test]
fn the_json_of_sessions() {
    let desk = desk();
    insta::assert_snapshot!(
        "session_json",
        desk.fine(&["session", "show", "agent:main:one", "--json"]).output
    );
    let listed = desk.fine(&["session", "list", "--json"]).json();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 2);
}
