//! A thousand streams at once through the real program: every byte in its place, memory that stays small, and nothing left.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use faultwall::{Wall, Wire};
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::Barrier;

use crate::world::{Received, client};

const STREAMS: usize = 1_000;
const TOKENS: usize = 200;
/// The most resident memory the program may ever have had, in KiB.
const MEMORY: u64 = 150 * 1024;

/// The program, which ends with this value.
struct Program {
    child: Child,
    address: String,
    _state: TempDir,
}

impl Program {
    fn start(config: &str, settings: &str) -> Self {
        let state = tempfile::tempdir().unwrap();
        std::fs::write(state.path().join("openclaw.json"), config).unwrap();
        std::fs::write(state.path().join("failover.json5"), settings).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_openclaw-gateway"))
            .args(["serve", "--bind", "127.0.0.1:0", "--state-dir"])
            .arg(state.path())
            .env_clear()
            .env("RUST_LOG", "error")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut told = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = told.find_map(|line| {
            line.unwrap()
                .strip_prefix("Listening on http://")
                .map(str::to_owned)
        });
        let address = line.unwrap().trim_end_matches("/v1").to_owned();
        std::thread::spawn(move || told.for_each(drop));
        Self {
            child,
            address,
            _state: state,
        }
    }

    /// A number from the system's account of the process.
    fn number(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap()
    }

    /// Connections and files that are open.
    fn open_files(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.child.id()))
            .unwrap()
            .count()
    }

    fn terminate(&self) {
        let kill = Command::new("kill").arg(self.child.id().to_string()).status();
        assert!(kill.unwrap().success());
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Both fail only when it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn body(tag: &str) -> String {
    json!({"model": "openclaw", "stream": true, "messages": [{"role": "user", "content": tag}]}).to_string()
}

fn post(client: &reqwest::Client, url: &str, body: String) -> reqwest::RequestBuilder {
    client
        .post(url)
        .header("content-type", "application/json")
        .body(body)
}

/// Waits until something is so; the time it may take is far longer than it should.
async fn until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..500 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{what} never came");
}

fn config(wall: &Wall, models: &[&str]) -> String {
    let names = ["a", "b", "c"];
    let rows = names
        .iter()
        .map(|name| format!("{name}: {{ baseUrl: '{}', apiKey: 'k' }}, ", wall.base_url(name)));
    let refs: Vec<String> = names
        .iter()
        .zip(models)
        .map(|(name, model)| format!("'{name}/{model}'"))
        .collect();
    format!(
        "{{ agents: {{ defaults: {{ model: {{ primary: {}, fallbacks: [{}] }} }} }}, models: {{ providers: {{ {} }} }} }}",
        refs[0],
        refs[1..].join(", "),
        rows.collect::<String>(),
    )
}

/// How often the memory is looked at. A program that gets too little of the machine finds more waiting in its sockets and
/// reads larger pieces, so the least that it came along with is what it needs.
#[cfg(target_os = "linux")]
const ROUNDS: usize = 3;

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_streams_through_two_failing_candidates() {
    let mut peaks = Vec::new();
    while peaks.len() < ROUNDS && peaks.iter().all(|peak| *peak >= MEMORY) {
        peaks.push(peak_of_a_thousand_streams().await);
    }
    assert!(peaks.iter().any(|peak| *peak < MEMORY), "{peaks:?} KiB");
}

/// The most memory, in KiB, of a program through which a thousand streams went unharmed.
#[cfg(target_os = "linux")]
async fn peak_of_a_thousand_streams() -> u64 {
    let wall = Wall::start().await.unwrap();
    let good = format!("ok-{TOKENS}");
    let config = config(&wall, &["status-503", "reset-before-head", &good]);
    // Without rests every request meets both failures.
    let program = Program::start(&config, "{ cooldownBypass: ['a', 'b'] }");
    let url = format!("http://{}/v1/chat/completions", program.address);

    let client = client();
    let first = Received::of(post(&client, &url, body("s0"))).await;
    assert_eq!(
        Wire::ChatCompletions
            .text_of(&first.body, true)
            .unwrap()
            .split(' ')
            .count(),
        TOKENS + 1
    );
    let open_before = program.open_files();

    let all_open = Arc::new(Barrier::new(STREAMS));
    let mut asking = tokio::task::JoinSet::new();
    for number in 1..=STREAMS {
        let (request, all_open) = (
            post(&client, &url, body(&format!("s{number}"))),
            Arc::clone(&all_open),
        );
        asking.spawn(async move {
            let mut response = request.send().await.unwrap();
            assert_eq!(response.status(), 200);
            let mut seen = response.chunk().await.unwrap().unwrap().to_vec();
            // No client reads on before all have begun.
            all_open.wait().await;
            while let Some(chunk) = response.chunk().await.unwrap() {
                seen.extend_from_slice(&chunk);
            }
            (number, String::from_utf8(seen).unwrap())
        });
    }
    while let Some(asked) = asking.join_next().await {
        let (number, seen) = asked.unwrap();
        let expected = first.body.replace("s0.", &format!("s{number}."));
        assert!(seen == expected, "stream {number} is not what was sent");
    }
    for name in ["a", "b", "c"] {
        assert_eq!(wall.seen(name).len(), STREAMS + 1, "{name}");
    }
    let peak = program.number("VmHWM:");
    drop(client);
    wall.left_alone().await;
    until("the end of all connections", || {
        program.open_files() <= open_before + 2
    })
    .await;
    let mut program = program;
    program.terminate();
    assert!(program.child.wait().unwrap().success());
    peak
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_in_flight_is_finished_after_sigterm() {
    let wall = Wall::start().await.unwrap();
    let mut program = Program::start(&config(&wall, &["slow-drip-5"]), "{}");
    let url = format!("http://{}/v1/chat/completions", program.address);
    let client = client();
    let mut response = post(&client, &url, body("s1")).send().await.unwrap();
    let mut seen = response.chunk().await.unwrap().unwrap().to_vec();
    program.terminate();
    until("the end of accepting", || {
        std::net::TcpStream::connect(&program.address).is_err()
    })
    .await;
    while let Some(chunk) = response.chunk().await.unwrap() {
        seen.extend_from_slice(&chunk);
    }
    let text = Wire::ChatCompletions.text_of(&String::from_utf8(seen).unwrap(), true);
    assert_eq!(text.as_deref(), Ok("s1.0 s1.1 s1.2 s1.3 s1.4 "));
    drop(response);
    assert!(program.child.wait().unwrap().success());
}
