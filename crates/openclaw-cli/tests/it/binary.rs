//! The command line: help, exit codes, and what it says when it cannot run.

use std::path::Path;
use std::process::{Command, Output};

fn run(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_openclaw-gateway"))
        .args(arguments)
        .env_clear()
        .envs(variables.iter().copied())
        .output()
        .unwrap()
}

/// Standard error of a command that must not run.
fn refused(arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let output = run(arguments, variables);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
    assert_eq!(output.stdout, b"", "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn serve_in(state: &Path, variables: &[(&str, &str)]) -> String {
    let told = refused(
        &[
            "serve",
            "--bind",
            "127.0.0.1:0",
            "--state-dir",
            state.to_str().unwrap(),
        ],
        variables,
    );
    told.replace(state.to_str().unwrap(), "/state")
}

#[test]
fn help_teaches() {
    for (name, arguments) in [
        ("help", &["--help"] as &[_]),
        ("help_serve", &["serve", "--help"]),
        ("help_config_check", &["config", "check", "--help"]),
    ] {
        let output = run(arguments, &[]);
        assert!(output.status.success());
        insta::assert_snapshot!(name, String::from_utf8(output.stdout).unwrap());
    }
    let bare = run(&[], &[]);
    assert!(bare.status.success());
    assert!(String::from_utf8(bare.stdout).unwrap().contains("Examples:"));
}

#[test]
fn a_wrong_argument_is_explained() {
    assert!(refused(&["serve", "--bind", "here"], &[]).contains("invalid value 'here'"));
    assert!(refused(&["fly"], &[]).contains("unrecognized subcommand 'fly'"));
}

#[test]
fn listening_beyond_this_machine_needs_a_token() {
    insta::assert_snapshot!("no_token", refused(&["serve", "--bind", "0.0.0.0:0"], &[]));
}

#[test]
fn a_port_in_use() {
    let holder = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = holder.local_addr().unwrap().to_string();
    let told = refused(&["serve", "--demo", "--bind", &address], &[]);
    insta::assert_snapshot!("port_in_use", told.replace(&address, "127.0.0.1:<port>"));
}

#[test]
fn configurations_that_cannot_be_used() {
    let state = tempfile::tempdir().unwrap();
    let path = state.path().join("openclaw.json");
    std::fs::write(&path, "{ agents: { defaults: { model: { fallbacks: 'a/b' } } } }").unwrap();
    insta::assert_snapshot!("wrong_value", serve_in(state.path(), &[]));
    std::fs::write(&path, "{\n  agents: {,\n}").unwrap();
    insta::assert_snapshot!("wrong_syntax", serve_in(state.path(), &[]));
    std::fs::write(&path, format!("{{ agents:\n{}", "[".repeat(2_000_000))).unwrap();
    insta::assert_snapshot!("too_deep", serve_in(state.path(), &[]));
    std::fs::write(&path, " ".repeat(5_000_000)).unwrap();
    insta::assert_snapshot!("too_large", serve_in(state.path(), &[]));
    std::fs::write(
        &path,
        "{ models: { providers: { relay: { baseUrl: 'relay.example' } } } }",
    )
    .unwrap();
    insta::assert_snapshot!("wrong_url", serve_in(state.path(), &[]));
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    insta::assert_snapshot!("unreadable", serve_in(state.path(), &[]));
}

#[test]
fn a_state_directory_that_cannot_be_written() {
    let parent = tempfile::tempdir().unwrap();
    let file = parent.path().join("file");
    std::fs::write(&file, "not a directory").unwrap();
    let config = parent.path().join("openclaw.json");
    std::fs::write(&config, "{}").unwrap();
    insta::assert_snapshot!(
        "state_not_writable",
        serve_in(&file, &[("OPENCLAW_CONFIG_PATH", config.to_str().unwrap())])
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "not a directory");
}

#[test]
fn damaged_databases_are_left_as_they_are() {
    for (name, path) in [
        ("damaged_credentials", "agents/main/agent/openclaw-agent.sqlite"),
        (
            "damaged_sessions",
            "agents/main/sessions/openclaw-sessions.sqlite",
        ),
    ] {
        let state = tempfile::tempdir().unwrap();
        let file = state.path().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let damage = "this is no database ".repeat(100);
        std::fs::write(&file, &damage).unwrap();
        insta::assert_snapshot!(name, serve_in(state.path(), &[]));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), damage);
    }
}

#[test]
fn a_log_format_that_does_not_exist() {
    let state = tempfile::tempdir().unwrap();
    insta::assert_snapshot!(
        "log_format",
        serve_in(state.path(), &[("OPENCLAW_LOG_FORMAT", "xml")])
    );
}

#[test]
fn checking_a_configuration_tells_by_its_status() {
    let state = tempfile::tempdir().unwrap();
    let path = state.path().join("openclaw.json");
    let check = || {
        let folder = state.path().to_str().unwrap();
        let variables = [("OPENAI_API_KEY", "k")];
        run(&["config", "check", "--state-dir", folder], &variables)
            .status
            .code()
    };
    assert_eq!(check(), Some(0));
    std::fs::write(
        &path,
        "{ agents: { defaults: { model: { fallbacks: ['nowhere/x'] } } } }",
    )
    .unwrap();
    assert_eq!(check(), Some(1));
    std::fs::write(&path, "{").unwrap();
    assert_eq!(check(), Some(2));
    let entries = std::fs::read_dir(state.path()).unwrap().count();
    assert_eq!(entries, 1, "a check writes nothing");
}

#[test]
fn a_named_configuration_must_exist() {
    let state = tempfile::tempdir().unwrap();
    let folder = state.path().to_str().unwrap();
    let mut told = String::new();
    for command in [
        &["serve", "--bind", "127.0.0.1:0"] as &[&str],
        &["config", "check"],
    ] {
        let with = |more: &[&str], variables: &[(&str, &str)]| {
            let arguments = [command, &["--state-dir", folder], more].concat();
            refused(&arguments, variables)
        };
        told += &with(&["--config", "/none/argument.json"], &[]);
        told += &with(&[], &[("OPENCLAW_CONFIG_PATH", "/none/variable.json")]);
        told += &with(&[], &[("OPENCLAW_FAILOVER_CONFIG", "/none/failover.json5")]);
    }
    insta::assert_snapshot!("named_and_missing", told);
}

#[test]
fn provider_rows_are_told_with_their_place() {
    let state = tempfile::tempdir().unwrap();
    let path = state.path().join("openclaw.json");
    let mut told = String::new();
    for row in [
        "baseUrl: 'ftp://user:password@h/?key=k'",
        "baseUrl: 'http://h', headers: { 'Content-Length': '3' }",
        "baseUrl: 'http://h', headers: { 'a b': '3' }",
        "baseUrl: 'http://h', headers: 'x'",
        "baseUrl: 7",
        "timeoutSeconds: 'long'",
    ] {
        std::fs::write(
            &path,
            format!("{{ models: {{\n providers: {{\n Relay: {{ {row} }} }} }} }}"),
        )
        .unwrap();
        told += &serve_in(state.path(), &[]);
    }
    let secret = "sk-0123456789abcdef";
    for auth in [
        format!("profiles: {{ 'a:b': {{ provider: 'a', mode: '{secret}' }} }}"),
        "profiles: { 'a:b': { provider: 'a', mode: 'apikey' } }".to_owned(),
        "profiles: { 'a:b': { provider: 'a' } }".to_owned(),
        "profiles: []".to_owned(),
        "order: { a: 'a:b' }".to_owned(),
    ] {
        std::fs::write(&path, format!("{{\n auth: {{ {auth} }} }}")).unwrap();
        told += &serve_in(state.path(), &[]);
    }
    assert!(!told.contains(secret) && !told.contains("password"), "{told}");
    insta::assert_snapshot!("rows", told);
}

#[test]
fn a_check_without_a_file_shows_the_chain_that_would_be_served() {
    let state = tempfile::tempdir().unwrap();
    let folder = state.path().to_str().unwrap();
    let variables = [("MISTRAL_API_KEY", "k"), ("GROQ_API_KEY", "k")];
    let output = run(&["config", "check", "--state-dir", folder], &variables);
    let text = String::from_utf8(output.stdout)
        .unwrap()
        .replace(folder, "/state");
    assert!(text.contains("found mistral"), "{text}");
    assert!(text.contains("  1. mistral/"), "{text}");
    assert!(text.contains("  2. groq/"), "{text}");
}
