//! The binary as a service: what it says at its start and in its log, and that others judge its files as it does.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use faultwall::scripted::{Script, Upstream};
use serde_json::{Value, json};

use crate::cli::Desk;
use crate::world::{Received, client, hello, rows};

/// A running gateway.
pub(crate) struct Service {
    child: Child,
    url: String,
    /// What it wrote before it listened.
    introduction: String,
}

impl Service {
    /// Starts on the files of a state directory.
    pub(crate) fn start(state: &Path, variables: &[(&str, &str)]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_openclaw-gateway"))
            .args(["serve", "--bind", "127.0.0.1:0"])
            .env_clear()
            .env("OPENCLAW_STATE_DIR", state)
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut introduction = String::new();
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            if let Some(url) = line.strip_prefix("Listening on ") {
                let url = url.trim_end_matches("/v1").to_owned();
                return Self {
                    child,
                    url,
                    introduction,
                };
            }
            introduction.push_str(&line);
            introduction.push('\n');
        }
        let mut error = String::new();
        child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
        let ended = child.wait().unwrap();
        panic!("it does not listen ({ended}): {error}");
    }

    async fn get(&self, path: &str) -> Received {
        Received::of(client().get(format!("{}{path}", self.url))).await
    }

    pub(crate) async fn ask(&self) -> Received {
        let request = client()
            .post(format!("{}/v1/chat/completions", self.url))
            .header("content-type", "application/json")
            .body(json!({"model": "openclaw", "messages": []}).to_string());
        Received::of(request).await
    }

    /// Asks it to stop, and returns its log.
    pub(crate) async fn stop(mut self) -> String {
        // A process that answers also handles signals by now.
        assert_eq!(self.get("/healthz").await.status, 200);
        let stopped = Command::new("kill")
            .arg(self.child.id().to_string())
            .status()
            .unwrap();
        assert!(stopped.success());
        let ended = tokio::task::spawn_blocking(move || {
            let mut log = String::new();
            self.child
                .stderr
                .take()
                .unwrap()
                .read_to_string(&mut log)
                .unwrap();
            assert!(self.child.wait().unwrap().success());
            log
        });
        ended.await.unwrap()
    }
}

#[tokio::test]
async fn a_credential_without_its_secret_is_told_at_the_start_and_makes_nobody_ready() {
    let desk = Desk::with("{ agents: { defaults: { model: 'openai/gpt' } } }");
    desk.fine(&["auth", "add", "openai:work", "--ref", "env:WORK_KEY"]);
    let service = Service::start(&desk.path(""), &[("OPENCLAW_GATEWAY_TOKEN", "short")]);
    let told = &service.introduction;
    assert!(
        told.contains("environment variable `WORK_KEY` is not set here"),
        "{told}"
    );
    assert!(told.contains("the token of clients is so short"), "{told}");
    let ready = service.get("/readyz").await;
    assert_eq!(ready.status, 503, "{}", ready.body);
    assert!(
        ready.body.contains("has a credential that can be used"),
        "{}",
        ready.body
    );
    assert!(
        !ready.body.contains("WORK_KEY"),
        "everybody may read it: {}",
        ready.body
    );
    service.stop().await;

    let service = Service::start(&desk.path(""), &[("WORK_KEY", "sk-work-0123456789")]);
    assert!(
        !service.introduction.contains("WORK_KEY"),
        "{}",
        service.introduction
    );
    assert_eq!(service.get("/readyz").await.status, 200);
    service.stop().await;
}

#[tokio::test]
async fn what_older_versions_left_is_told_at_the_start() {
    let desk = Desk::with("{ agents: { defaults: { model: 'ollama/m' } } }");
    let profiles =
        r#"{"profiles": {"openai:work": {"type": "api_key", "provider": "openai", "key": "sk-secret"}}}"#;
    desk.write("agents/main/agent/auth-profiles.json", profiles);
    let service = Service::start(&desk.path(""), &[]);
    let told = &service.introduction;
    assert!(
        told.contains("(openai:work)") && told.contains("doctor --fix"),
        "{told}"
    );
    assert!(!told.contains("sk-secret"), "{told}");
    service.stop().await;
}

#[tokio::test]
async fn the_admin_surface_and_the_command_line_judge_alike() {
    let desk = Desk::with(
        "{ agents: { defaults: { model: { primary: 'openai/gpt', fallbacks: ['groq/llama', 'nowhere/m'] } },
                     list: [{ id: 'ops', default: true, model: { primary: 'anthropic/claude', fallbacks: ['openai/gpt'] } }] },
           models: { providers: { relay: { baseUrl: 'https://relay.example/v1', apikey: 'k' } } } }",
    );
    // The main agent is not listed, and the others inherit from it.
    let main = desk.path("agents/main/agent");
    std::fs::create_dir_all(&main).unwrap();
    let listed = std::fs::read_to_string(desk.path("openclaw.json")).unwrap();
    desk.write("openclaw.json", "{}");
    for (profile, pointer) in [("openai:work", "env:WORK_KEY"), ("groq:x", "env:GROQ")] {
        desk.fine(&["auth", "add", profile, "--ref", pointer]);
    }
    desk.write("openclaw.json", &listed);
    let service = Service::start(&desk.path(""), &[]);
    let seen = |received: Received| -> Value { received.json()["findings"].clone() };
    let used = seen(service.get("/admin/v1/lint").await);
    let files = seen(service.get("/admin/v1/lint?of=files").await);
    service.stop().await;
    let lint = desk.run(&["lint", "--json"]).json()["findings"].clone();
    let check = desk.run(&["config", "check", "--json"]).json()["findings"].clone();
    assert_eq!((&used, &files, &check), (&lint, &lint, &lint));
    let told = lint.to_string();
    for expected in [
        "WORK_KEY",
        "misspelt-key",
        "credential openai:work of agent main",
        "nowhere",
    ] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
}

fn limited() -> Script {
    let body = r#"{"error":{"code":"rate_limit_exceeded","message":"slow down"}}"#;
    Script::reply(429, &[("retry-after", "600")], body)
}

/// The log of three requests of which the first finds the first model limited.
async fn log_of_a_limit(variables: &[(&str, &str)]) -> (Vec<String>, String) {
    let upstreams = vec![
        Upstream::start([limited()]).await,
        Upstream::start([hello(), hello(), hello()]).await,
    ];
    let desk = Desk::with(&format!(
        "{{ agents: {{ defaults: {{ model: {{ primary: 'a/m', fallbacks: ['b/m'] }} }} }},
            models: {{ providers: {{ {} }} }} }}",
        rows(&upstreams)
    ));
    let variables: Vec<_> = variables
        .iter()
        .copied()
        .chain([("NO_PROXY", "127.0.0.1")])
        .collect();
    let service = Service::start(&desk.path(""), &variables);
    let mut ids = Vec::new();
    for _ in 0..3 {
        let answer = service.ask().await;
        assert_eq!(answer.header("x-openclaw-served-model"), Some("b/m"));
        ids.push(answer.header("x-openclaw-request-id").unwrap().to_owned());
    }
    (ids, service.stop().await)
}

#[tokio::test]
async fn a_log_has_one_line_for_the_end_of_each_request_and_a_warning_for_what_is_new() {
    let (ids, log) = log_of_a_limit(&[]).await;
    let lines = |id: &str| -> Vec<&str> {
        log.lines()
            .filter(|line| line.contains(&format!("[{id}]")))
            .collect()
    };
    let first = lines(&ids[0]);
    assert!(
        first[..first.len() - 1]
            .iter()
            .all(|line| line.contains(" WARN ")),
        "{log}"
    );
    for id in &ids[1..] {
        assert_eq!(lines(id).len(), 1, "{log}");
    }
    for id in &ids {
        let last = *lines(id).last().unwrap();
        assert!(
            last.contains(" INFO ") && last.ends_with("answered by b/m instead of a/m (rate_limit)"),
            "{log}"
        );
    }
}

#[tokio::test]
async fn a_log_for_machines_names_the_request_in_every_line_about_it() {
    let (ids, log) = log_of_a_limit(&[("OPENCLAW_LOG_FORMAT", "json")]).await;
    let events: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let about = |id: &str| -> Vec<&Value> { events.iter().filter(|event| event["runId"] == id).collect() };
    for id in &ids[1..] {
        let told = about(id);
        assert_eq!(told.len(), 1, "{log}");
        assert_eq!(
            (
                &told[0]["level"],
                &told[0]["decision"],
                &told[0]["fallbackStepFromFailureReason"]
            ),
            (
                &json!("INFO"),
                &json!("candidate_succeeded"),
                &json!("rate_limit")
            )
        );
    }
}
