//! `config show` and `lint`.

use super::Desk;

const BROKEN: &str = "{
  agents: {
    defaults: {
      model: { primary: 'openai/gpt', fallbacks: ['openai/gpt', 'nowhere/m', 'groq/llama@groq:x'] },
    },
    list: [{ id: 'main' }, { id: 'ops', model: 'groq/llama' }],
  },
  models: { providers: { relay: { baseUrl: 'https://user:secret@relay.example/v1?key=secret', apiKey: 'secret' } } },
  auth: { cooldowns: { billingMaxHours: 12 } },
}";

#[test]
fn what_holds_is_shown_without_secrets() {
    let desk = Desk::with(BROKEN).with_variable("GROQ_API_KEY", "gsk-secret");
    desk.write(
        "failover.json5",
        "{ inlineWaitMs: 100, deadlines: { all: { idleMs: 5 } } }",
    );
    let shown = desk.fine(&["config", "show"]);
    assert!(!shown.output.contains("secret"), "{}", shown.output);
    // What is as it is by default is said elsewhere.
    let lines = shown.output.lines().filter(|line| !line.ends_with("default"));
    insta::assert_snapshot!("config_show", lines.collect::<Vec<_>>().join("\n"));
    let json = desk.fine(&["config", "show", "--json"]).json();
    assert_eq!(json["changed"], serde_json::json!(["deadlines", "inlineWaitMs"]));
    assert_eq!(json["settings"]["inlineWaitMs"], 100);
}

#[test]
fn a_misspelt_key_is_told_with_the_one_that_was_meant() {
    let desk = Desk::with(
        "{ agents: { defaults: { model: 'relay/m' } }, channels: { telegram: { apikey: 1 } },
           auth: { cooldown: {}, cooldowns: { billingMaxHour: 3 } },
           models: { provider: {}, providers: {
             relay: { baseURL: 'https://relay.example/v1', baseUrl: 'https://relay.example/v1', api_key: 'sk-secret',
                      apiKey: 'k', region: 'x', models: [] } } } }",
    );
    let told = desk.transcript(&[&["lint"], &["config", "check"]]);
    assert!(!told.contains("sk-secret"), "{told}");
    insta::assert_snapshot!("misspelt", told);
    let rules = desk.fine(&["lint", "--rules"]).output;
    assert!(rules.contains("misspelt-key  warning"), "{rules}");
}

#[test]
fn findings_are_told_with_their_remedy() {
    let desk = Desk::with(BROKEN);
    let done = desk.run(&["lint"]);
    assert_eq!(done.status, 1);
    insta::assert_snapshot!("lint", done.output);
    let fine = Desk::with("{ agents: { defaults: { model: 'ollama/llama' } } }");
    assert_eq!(fine.fine(&["lint"]).output, "No findings.\n");
    let rules = desk.fine(&["lint", "--rules"]).output;
    assert!(
        rules.contains("unknown-provider  error  check the spelling"),
        "{rules}"
    );
}

#[test]
fn f_5_a_longest_wait_below_the_first_one_is_told() {
    for (cooldowns, places) in [
        (
            "{ billingMaxHours: 1 }",
            &["auth.cooldowns.billingBackoffHours"][..],
        ),
        (
            "{ billingBackoffHours: 30 }",
            &["auth.cooldowns.billingBackoffHours"],
        ),
        (
            "{ billingBackoffHoursByProvider: { openai: 25 } }",
            &["auth.cooldowns.billingBackoffHoursByProvider.openai"],
        ),
        (
            "{ authPermanentMaxMinutes: 2 }",
            &["auth.cooldowns.authPermanentBackoffMinutes"],
        ),
        ("{ billingBackoffHours: 24, authPermanentMaxMinutes: 10 }", &[]),
    ] {
        let desk = Desk::bare();
        desk.write(
            "openclaw.json",
            &format!("{{ auth: {{ cooldowns: {cooldowns} }} }}"),
        );
        let told = desk.run(&["lint", "--json"]).json();
        let findings = told["findings"].as_array().unwrap();
        let capped = findings
            .iter()
            .filter(|finding| finding["code"] == "cap-below-first-wait");
        let found: Vec<_> = capped.map(|finding| finding["place"].as_str().unwrap()).collect();
        assert_eq!(found, places, "{cooldowns}: {told}");
    }
}
