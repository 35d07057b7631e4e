//! What people and machines read of a check.

use std::path::{Path, PathBuf};

use openclaw_auth_store::{Credential, ProfileStore, Secret, SqliteAuthStore};
use openclaw_cooldown::CooldownConfig;
use openclaw_ids::{AgentId, ProfileId, ProviderId};
use openclaw_runner::{Clock, SystemClock};

use super::*;
use crate::terminal::OutputArgs;

const FINE: &str = "{ agents: { defaults: { model: { primary: 'openai/gpt-5.5', fallbacks: ['local/llama'] } },
                                list: [{ id: 'main' }, { id: 'writer', model: 'local/llama' }] },
                      models: { providers: { local: { baseUrl: 'http://127.0.0.1:8080/v1', models: [{ id: 'llama' }] } } } }";
const BAD: &str = "{ agents: { defaults: { model: { primary: 'openai/gpt-5.5', fallback: ['x'],
                                                     fallbacks: ['nowhere/a', 'openai/gpt-5.5', 'b/', 'amazon-bedrock/claude', 'groq/llama'] } } },
                     models: { providers: { aws: { baseUrl: 'https://h', api: 'bedrock-converse-stream' } } } }";

fn arguments(json: bool, places: PathArgs) -> CheckArgs {
    let output = OutputArgs { json };
    CheckArgs {
        common: CommonArgs { output, places },
    }
}

fn check(text: &str, json: bool) -> (Outcome, String) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("openclaw.json");
    std::fs::write(&path, text).unwrap();
    #[cfg(unix)]
    close(directory.path());
    let places = PathArgs {
        config: Some(path.clone()),
        state_dir: Some(PathBuf::from("/none")),
    };
    let environment = Environment::of([("OPENAI_API_KEY", "sk-secret")], Path::new("/"));
    let mut output = Vec::new();
    let outcome = run(
        &environment,
        &arguments(json, places),
        &mut Screen::plain(&mut output),
    )
    .unwrap();
    let output = String::from_utf8(output).unwrap();
    (
        outcome,
        output.replace(path.to_str().unwrap(), "/c/openclaw.json"),
    )
}

/// Closes a folder to others, so that nothing in it depends on the umask.
#[cfg(unix)]
fn close(folder: &Path) {
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(folder, private).unwrap();
}

#[cfg(unix)]
#[test]
fn a_literal_key_that_others_may_read_is_a_finding_and_an_open_folder_a_note() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("openclaw.json");
    let literal = FINE.replace(
        "baseUrl: 'http://127.0.0.1:8080/v1',",
        "baseUrl: 'http://127.0.0.1:8080/v1', apiKey: 'k',",
    );
    assert_ne!(literal, FINE);
    std::fs::write(&path, literal).unwrap();
    let set = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for (folder, file, expected, codes) in [
        (
            0o755,
            0o644,
            Outcome::Findings,
            &["readable-by-others", "folder-open-to-others"] as &[_],
        ),
        (0o755, 0o600, Outcome::Fine, &["folder-open-to-others"]),
        (0o711, 0o644, Outcome::Findings, &["readable-by-others"]),
        (0o700, 0o644, Outcome::Fine, &[]),
    ] {
        set(directory.path(), folder);
        set(&path, file);
        let places = PathArgs {
            config: Some(path.clone()),
            state_dir: Some(directory.path().to_owned()),
        };
        let environment = Environment::of([("OPENAI_API_KEY", "sk-secret")], Path::new("/"));
        let mut output = Vec::new();
        let outcome = run(
            &environment,
            &arguments(false, places),
            &mut Screen::plain(&mut output),
        )
        .unwrap();
        let text = String::from_utf8(output).unwrap();
        assert_eq!(outcome, expected, "{folder:o} {file:o}: {text}");
        for code in ["readable-by-others", "folder-open-to-others"] {
            assert_eq!(
                text.contains(code),
                codes.contains(&code),
                "{folder:o} {file:o}: {text}"
            );
        }
    }
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
fn secrets_that_lead_nowhere_and_addresses_without_theirs() {
    let text = "{ agents: { defaults: { model: { primary: 'relay/m', fallbacks: ['fine/m'] } } },
                  models: { providers: {
                    relay: { baseUrl: 'https://h/v1', apiKey: '${NOPE}', headers: { 'x-team': '$TEAM' }, models: [{ id: 'm' }] },
                    fine: { baseUrl: 'https://user:password@h/v1?key=hidden', apiKey: 'k', models: [{ id: 'm' }] } } } }";
    let (outcome, output) = check(text, false);
    assert_eq!(outcome, Outcome::Findings);
    assert!(
        !output.contains("password") && !output.contains("hidden"),
        "{output}"
    );
    insta::assert_snapshot!("unusable", output);
}

#[test]
fn machines_read_the_same_as_json() {
    insta::assert_snapshot!("json", check(BAD, true).1);
}

#[test]
fn without_a_file_the_defaults_are_explained() {
    let directory = tempfile::tempdir().unwrap();
    let places = PathArgs {
        config: None,
        state_dir: Some(directory.path().to_owned()),
    };
    let environment = Environment::of([], Path::new("/"));
    let mut output = Vec::new();
    run(
        &environment,
        &arguments(false, places),
        &mut Screen::plain(&mut output),
    )
    .unwrap();
    let text = String::from_utf8(output).unwrap();
    assert!(
        text.contains("openclaw.json (does not exist; defaults apply)"),
        "{text}"
    );
}

#[tokio::test]
async fn stored_profiles_count_and_nothing_is_written() {
    let state = tempfile::tempdir().unwrap();
    let path = state.path().join("openclaw.json");
    std::fs::write(
        &path,
        "{ agents: { defaults: { model: 'groq/llama' }, list: [{ id: 'main' }, { id: 'heir' }] } }",
    )
    .unwrap();
    let check = || {
        let places = PathArgs {
            config: None,
            state_dir: Some(state.path().to_owned()),
        };
        let mut output = Vec::new();
        let environment = Environment::of([], Path::new("/"));
        let outcome = run(
            &environment,
            &arguments(false, places),
            &mut Screen::plain(&mut output),
        )
        .unwrap();
        (outcome, String::from_utf8(output).unwrap())
    };
    let (outcome, text) = check();
    assert_eq!(outcome, Outcome::Findings);
    assert!(text.contains("[missing-credentials]"), "{text}");
    assert_eq!(
        std::fs::read_dir(state.path()).unwrap().count(),
        1,
        "nothing is written"
    );

    let folder = state.path().join("agents/main/agent");
    let provider = ProviderId::try_new("groq").unwrap();
    let now = SystemClock.now();
    let store = SqliteAuthStore::open(
        &folder,
        &AgentId::main(),
        Vec::new(),
        CooldownConfig::default(),
        now,
    );
    let key = Credential::api_key(provider, Secret::new("k"));
    let store = store.unwrap();
    store
        .upsert(ProfileId::try_new("groq:work").unwrap(), key, now)
        .await
        .unwrap();
    drop(store);
    let (outcome, text) = check();
    assert_eq!(outcome, Outcome::Fine, "{text}");
    // L13: the other agent inherits it.
    assert_eq!(text.matches("(groq:work)").count(), 2, "{text}");
}
