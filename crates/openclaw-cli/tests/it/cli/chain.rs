//! `chain`.

use super::Desk;

const JOBS: &str = r#"{"version": 1, "jobs": [
  {"id": "0b1c", "name": "nightly-report", "agentId": "main", "payload": {"kind": "agentTurn", "message": "x",
    "model": "groq/llama", "fallbacks": ["openai/gpt"]}},
  {"id": "0b1d", "name": "strict", "agentId": "ops", "payload": {"kind": "agentTurn", "model": "openai/gpt", "fallbacks": []}},
  {"id": "0b1e", "name": "plain", "payload": {"kind": "agentTurn"}}]}"#;

#[test]
fn bl_98_every_kind_of_run_says_its_chain_and_why() {
    let desk = Desk::new().with_keys();
    desk.write("cron/jobs.json", JOBS);
    let told = desk.transcript(&[
        &["chain"] as &[&str],
        &["chain", "--agent", "ops"],
        &["chain", "--cron", "nightly-report"],
        &["chain", "--cron", "0b1d"],
        &["chain", "--cron", "plain"],
        &[
            "chain",
            "--cron",
            "--model",
            "openai/gpt",
            "--fallback",
            "anthropic/claude",
        ],
        &["chain", "--heartbeat"],
        &["chain", "--subagent"],
        &["chain", "--model", "anthropic/claude"],
        &["chain", "--model", "openai/other"],
        &["chain", "--model", "openai/other", "--policy", "chain"],
        &["chain", "--image"],
    ]);
    insta::assert_snapshot!("chains", told);
    insta::assert_snapshot!("unknown_job", desk.refused(&["chain", "--cron", "other"]));
}

#[test]
fn the_json_of_a_chain() {
    let desk = Desk::new().with_keys();
    insta::assert_snapshot!("chain_json", desk.fine(&["chain", "--json"]).output);
}

#[test]
fn jobs_that_cannot_be_read_are_told_with_their_file() {
    let desk = Desk::new().with_keys();
    desk.write("cron/jobs.json", "[");
    let told = desk.refused(&["chain", "--cron", "nightly"]);
    assert!(
        told.contains("/state/cron/jobs.json is no object with a list of `jobs`"),
        "{told}"
    );
    std::fs::remove_file(desk.path("cron/jobs.json")).unwrap();
    std::fs::create_dir(desk.path("cron/jobs.json")).unwrap();
    let told = desk.refused(&["chain", "--cron", "nightly"]);
    assert!(
        told.contains("cannot read the jobs in /state/cron/jobs.json"),
        "{told}"
    );
}

#[test]
fn a_job_that_is_there_takes_no_other_models() {
    let desk = Desk::new().with_keys();
    desk.write("cron/jobs.json", JOBS);
    for more in [["--model", "groq/llama"], ["--fallback", "groq/llama"]] {
        let arguments = [&["chain", "--cron", "nightly-report"] as &[&str], &more].concat();
        let told = desk.refused(&arguments);
        assert!(told.contains("names its models itself"), "{told}");
    }
}

#[test]
fn of_two_jobs_of_one_name_an_id_is_asked_for() {
    let desk = Desk::new().with_keys();
    desk.write(
        "cron/jobs.json",
        r#"{"jobs": [{"id": "j1", "name": "nightly", "payload": {"model": "groq/llama"}},
                     {"id": "j2", "name": "nightly", "payload": {"model": "anthropic/claude"}}]}"#,
    );
    let told = desk.refused(&["chain", "--cron", "nightly"]);
    assert!(
        told.contains("several jobs of the name `nightly`") && told.contains("j1, j2"),
        "{told}"
    );
    let one = desk.fine(&["chain", "--cron", "j2", "--json"]).json();
    assert_eq!(one["candidates"][0]["model"], "anthropic/claude");
}
