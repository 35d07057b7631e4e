//! Credentials whose secret is elsewhere, and is not there.

use serde_json::json;

use super::Desk;

const CONFIG: &str = "{
  agents: {
    defaults: { model: { primary: 'openai/gpt', fallbacks: ['groq/llama'] } },
    list: [{ id: 'main', default: true }, { id: 'ops' }],
  },
}";

fn desk() -> Desk {
    let desk = Desk::with(CONFIG).with_variable("GROQ_API_KEY", "gsk-0123456789");
    desk.fine(&["auth", "add", "openai:work", "--ref", "env:WORK_KEY"]);
    let done = desk.run_with(&["auth", "add", "openai:text"], "${TEXT_KEY}");
    assert_eq!(done.status, 0, "{done:?}");
    desk
}

#[test]
fn a_variable_that_is_not_set_is_named_wherever_the_credential_is_shown() {
    let desk = desk();
    let commands: &[&[&str]] = &[
        &["status", "--agent", "main"] as &[&str],
        &["auth", "list"],
        &["auth", "list", "--agent", "ops"],
        &["chain"],
        &["config", "check"],
        &["lint"],
        &["doctor"],
    ];
    insta::assert_snapshot!("dangling", desk.transcript(commands));
    let status = desk.fine(&["status", "--json"]).json();
    assert_eq!(
        status["agents"][0]["chain"]["candidates"][0]["state"],
        "unusable_credential"
    );
    assert_eq!(desk.run(&["status", "--check"]).status, 1);
    let listed = desk.fine(&["auth", "list", "--json"]).json();
    assert_eq!(listed["profiles"][0]["eligibility"], json!("unresolved_ref"));

    let set = desk.with_variable("WORK_KEY", "sk-work-0123456789");
    assert!(!set.fine(&["auth", "list"]).output.contains("WORK_KEY"));
    let status = set.fine(&["status", "--json"]).json();
    assert_eq!(status["agents"][0]["chain"]["candidates"][0]["state"], "ready");
}

#[test]
fn a_credential_without_its_secret_leaves_a_chain_that_cannot_be_asked() {
    let desk = Desk::with("{ agents: { defaults: { model: 'openai/gpt' } } }");
    desk.fine(&["auth", "add", "openai:work", "--ref", "env:WORK_KEY"]);
    let done = desk.run(&["chain"]);
    assert_eq!(done.status, 1, "{done:?}");
    insta::assert_snapshot!("dangling_chain", done.output);
}
