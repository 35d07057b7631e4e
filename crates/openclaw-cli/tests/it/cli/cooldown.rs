//! `cooldown`.

use super::Desk;

#[test]
fn windows_are_set_listed_and_cleared() {
    let desk = Desk::new().with_keys();
    let told = desk.transcript(&[
        &["cooldown", "list"] as &[&str],
        &["cooldown", "set", "openai:work", "--for", "5h"],
        &[
            "cooldown",
            "set",
            "openai:home",
            "--for",
            "2h 30m",
            "--model",
            "gpt",
        ],
        &["cooldown", "list"],
        &["chain"],
        &["cooldown", "clear", "openai:home", "--window", "blocked"],
        &["cooldown", "clear", "openai:home", "--window", "blocked"],
        &["cooldown", "clear", "openai"],
        &["cooldown", "list"],
        &["cooldown", "clear", "--all"],
    ]);
    insta::assert_snapshot!("cooldowns", told);
}

#[test]
fn d14_an_inherited_credential_is_set_free_where_it_lives() {
    let desk = Desk::new().with_keys();
    desk.fine(&["cooldown", "set", "openai:work", "--for", "5h", "--agent", "ops"]);
    let windows = |agent: &str| {
        let listed = desk
            .fine(&["cooldown", "list", "--json", "--agent", agent])
            .json();
        listed["profiles"].as_array().unwrap().len()
    };
    assert_eq!((windows("main"), windows("ops")), (1, 1));
    desk.fine(&["cooldown", "clear", "openai:work", "--agent", "ops"]);
    assert_eq!((windows("main"), windows("ops")), (0, 0));
}

#[test]
fn the_json_of_windows() {
    let desk = Desk::new().with_keys();
    desk.fine(&["cooldown", "set", "openai:work", "--for", "5h"]);
    insta::assert_snapshot!(
        "cooldowns_json",
        desk.fine(&["cooldown", "list", "--json"]).output
    );
}

#[test]
fn what_never_failed_is_not_set_free() {
    let desk = Desk::new().with_keys();
    desk.fine(&["cooldown", "set", "openai:work", "--for", "2h"]);
    let cleared = desk.fine(&["cooldown", "clear", "--all", "--json"]).json();
    assert_eq!(cleared["cleared"], serde_json::json!(["openai:work"]));
    assert_eq!(cleared["unchanged"], serde_json::json!([]));
    let again = desk.fine(&["cooldown", "clear", "openai"]).output;
    assert!(again.contains("Nothing of it rests"), "{again}");
}
