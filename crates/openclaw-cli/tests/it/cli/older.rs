//! Credentials that older versions left, and that are in no store yet.

use super::Desk;

const PROFILES: &str = r#"{"version": 1, "profiles": {
  "openai:work": {"type": "api_key", "provider": "openai", "key": "sk-secret"},
  "groq:default": {"type": "api_key", "provider": "groq", "key": "gsk-secret"}}}"#;
const LOGINS: &str =
    r#"{"anthropic": {"access": "a-secret", "refresh": "r-secret", "expires": 4102444800000}}"#;

#[test]
fn older_files_are_told_with_what_becomes_of_them() {
    let desk = Desk::new();
    desk.write("agents/main/agent/auth-profiles.json", PROFILES);
    desk.write("credentials/oauth.json", LOGINS);
    let before = desk.contents();
    let commands: &[&[&str]] = &[
        &["auth", "list"] as &[&str],
        &["auth", "list", "--agent", "ops"],
        &["config", "check"],
        &["status", "--agent", "main"],
        &["chain", "--agent", "ops"],
    ];
    let told = desk.transcript(commands);
    assert!(desk.contents() == before, "a look changes nothing");
    assert!(!told.contains("secret"), "{told}");
    let json = desk.fine(&["auth", "list", "--json"]).json();
    assert_eq!(json["older"][0]["profiles"][0], "openai:work");
    assert_eq!(json["older"][1]["used"], true);
    assert_eq!(desk.run(&["status", "--check"]).status, 1);
    let troubles = &desk.fine(&["status", "--json"]).json()["agents"][0]["troubles"];
    assert_eq!(troubles[0]["kind"], "olderCredentials", "{troubles}");
    desk.run(&["doctor", "--fix"]);
    let told = told + &desk.transcript(&[&["auth", "list"], &["status", "--agent", "main"]]);
    insta::assert_snapshot!("older", told);
}

#[test]
fn an_older_file_that_makes_no_sense_is_named_where_a_credential_is_missing() {
    let desk = Desk::new();
    let broken = r#"{"version": 1, "profiles": {"#;
    desk.write("agents/main/agent/auth-profiles.json", broken);
    let told = "/state/agents/main/agent/auth-profiles.json is no JSON object";
    for command in [&["status"] as &[&str], &["chain"], &["auth", "list"]] {
        let shown = desk.run(command).output;
        assert!(shown.contains(told), "{command:?}: {shown}");
    }
    let checked = desk.run(&["config", "check"]);
    assert!(checked.output.contains("[older-unreadable]"), "{checked:?}");
    let added = desk.run_with(&["auth", "add", "openai"], "sk-1");
    assert_eq!(added.status, 0, "{added:?}");
    let shown = desk.fine(&["status", "--agent", "main"]).output;
    assert!(!shown.contains(told), "it is missed by nobody: {shown}");
}
