//! `status`.

use super::Desk;

#[test]
fn a_status_says_what_rests_and_what_needs_a_person() {
    let desk = Desk::new().with_keys();
    insta::assert_snapshot!("status_of_a_fresh_desk", desk.fine(&["status"]).output);
    desk.fine(&["cooldown", "set", "openai:work", "--for", "5h"]);
    desk.fine(&["cooldown", "set", "openai:home", "--for", "5h"]);
    insta::assert_snapshot!(
        "status_with_windows",
        desk.fine(&["status", "--agent", "main"]).output
    );
}

#[test]
fn bl_83_a_check_tells_by_its_exit_status() {
    let desk = Desk::with("{ agents: { defaults: { model: 'openai/gpt' } } }");
    assert_eq!(desk.run(&["status", "--check"]).status, 1, "no credential");
    assert_eq!(desk.run(&["status"]).status, 0);
    desk.run_with(&["auth", "add", "openai"], "sk-1");
    assert_eq!(desk.run(&["status", "--check"]).status, 0);
    desk.fine(&["cooldown", "set", "openai:default", "--for", "5h"]);
    assert_eq!(
        desk.run(&["status", "--check"]).status,
        1,
        "nothing else can answer"
    );
    desk.write(
        "openclaw.json",
        "{ agents: { defaults: { model: { primary: 'openai/gpt', fallbacks: ['ollama/m'] } } } }",
    );
    assert_eq!(desk.run(&["status", "--check"]).status, 0, "a fallback answers");
    assert_eq!(desk.run(&["status", "--check", "degraded"]).status, 1);
}

#[test]
fn the_json_of_a_status() {
    let desk = Desk::with("{ agents: { defaults: { model: 'openai/gpt' } } }");
    desk.run_with(&["auth", "add", "openai"], "sk-1");
    insta::assert_snapshot!("status_json", desk.fine(&["status", "--json"]).output);
}

#[test]
fn sessions_that_cannot_be_read_hide_nothing_else() {
    let desk = Desk::new().with_keys();
    desk.write("agents/main/sessions/sessions.json", "[1");
    let shown = desk.run(&["status", "--check"]);
    assert_eq!(shown.status, 1, "{}", shown.output);
    for told in [
        "openai:work",
        "sessions.json is no object of sessions",
        "doctor --fix",
    ] {
        assert!(shown.output.contains(told), "{told}: {}", shown.output);
    }
    desk.fine(&["auth", "list"]);
    let refused = desk.run(&["session", "list"]);
    assert_eq!(refused.status, 2, "{}", refused.output);
}

#[test]
fn an_agent_that_cannot_be_read_hides_no_other() {
    let desk = Desk::new().with_keys();
    desk.write(
        "agents/ops/agent/openclaw-agent.sqlite",
        &"no database".repeat(200),
    );
    let shown = desk.run(&["status", "--check"]);
    assert_eq!(shown.status, 1, "{}", shown.output);
    for told in [
        "openai:work",
        "Agent ops: cannot be shown: ",
        "openclaw-agent.sqlite",
    ] {
        assert!(shown.output.contains(told), "{told}: {}", shown.output);
    }
    let alone = desk.run(&["status", "--agent", "ops"]);
    assert_eq!(alone.status, 2, "{}", alone.output);
}

#[test]
fn a_history_that_cannot_be_read_is_named() {
    let desk = Desk::new().with_keys();
    desk.write("openclaw-failover-history.sqlite", &"no database".repeat(200));
    let shown = desk.fine(&["status"]);
    let told = "The last requests cannot be shown: /state/openclaw-failover-history.sqlite is damaged";
    assert!(shown.output.contains(told), "{}", shown.output);
    assert!(shown.output.contains("openai:work"), "{}", shown.output);
}

#[test]
fn a_first_model_without_a_credential_says_how_to_give_it_one() {
    let desk = Desk::with(
        "{ agents: { defaults: { model: { primary: 'openai/gpt', fallbacks: ['groq/llama'] } } } }",
    );
    desk.run_with(&["auth", "add", "groq"], "gsk-1");
    let shown = desk.fine(&["status"]).output;
    let told = "openai/gpt has no credential, so the next in the chain answers; store one: openclaw-gateway auth add openai";
    assert!(shown.contains(told), "{shown}");
}
