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
