//! What people and machines read of a check.

use std::path::{Path, PathBuf};

use super::*;

const FINE: &str = "{ agents: { defaults: { model: { primary: 'openai/gpt-5.5', fallbacks: ['local/llama'] } },
                                list: [{ id: 'main' }, { id: 'writer', model: 'anthropic/claude-sonnet-5' }] },
                      models: { providers: { local: { baseUrl: 'http://127.0.0.1:8080/v1', models: [] } } } }";
const BAD: &str = "{ agents: { defaults: { model: { primary: 'openai/gpt-5.5', fallback: ['x'],
                                                     fallbacks: ['nowhere/a', 'openai/gpt-5.5', 'b/'] } } },
                     models: { providers: { aws: { baseUrl: 'https://h', api: 'bedrock-converse-stream' } } } }";

fn check(text: &str, json: bool) -> (Outcome, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("openclaw.json");
    std::fs::write(&path, text).unwrap();
    let places = Places {
        config: Some(path.clone()),
        state_dir: Some(PathBuf::from("/none")),
    };
    let environment = Environment::of([("OPENAI_API_KEY", "sk-secret")], Path::new("/"));
    let mut output = Vec::new();
    let outcome = run(&environment, &CheckArgs { json, places }, &mut output).unwrap();
    let output = String::from_utf8(output).unwrap();
    (
        outcome,
        output.replace(path.to_str().unwrap(), "/c/openclaw.json"),
    )
}

#[test]
fn a_good_configuration_is_explained() {
    let (outcome, text) = check(FINE, false);
    assert_eq!(outcome, Outcome::Fine);
    insta::assert_snapshot!("fine", text);
}

#[test]
fn findings_say_what_to_do() {
    let (outcome, text) = check(BAD, false);
    assert_eq!(outcome, Outcome::Findings);
    insta::assert_snapshot!("findings", text);
}

#[test]
fn machines_read_the_same_as_json() {
    insta::assert_snapshot!("json", check(BAD, true).1);
}

#[test]
fn without_a_file_the_defaults_are_explained() {
    let directory = tempfile::tempdir().unwrap();
    let places = Places {
        config: None,
        state_dir: Some(directory.path().to_owned()),
    };
    let environment = Environment::of([], Path::new("/"));
    let mut output = Vec::new();
    run(&environment, &CheckArgs { json: false, places }, &mut output).unwrap();
    let text = String::from_utf8(output).unwrap();
    assert!(
        text.contains("openclaw.json (does not exist; defaults apply)"),
        "{text}"
    );
}
