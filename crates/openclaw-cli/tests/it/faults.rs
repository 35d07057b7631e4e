//! Every fault in every shape: what the client saw, and what each upstream saw.
//!
//! One gateway serves all faults in one shape at the same time. A cell has providers of its own, so that no rest reaches
//! another.

mod expected;

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use faultwall::{FAULTS, Wall, Wire};
use futures_util::StreamExt;
use openclaw_auth_store::{Credential, ProfileStore, Secret, SqliteAuthStore};
use openclaw_ids::{AgentId, ProfileId, ProviderId};
use openclaw_runner::{Clock, SystemClock};
use serde_json::json;
use tokio::time::timeout;

use crate::world::{Received, World, client};
use expected::{EXPECTED, Expected, Meets};

/// Faults that only a limit ends, and the limits that end them.
const IMPATIENT: &[&str] = &[
    "silence",
    "slow-head-60000",
    "slow-first-token-60000",
    "slow-drip-400",
    "stall-after",
];
const LIMITS: &str = "{ headMs: 3000, plainHeadMs: 3000, firstContentMs: 1500, plainBodyMs: 1500, idleMs: 1500, totalMs: 4000 }";

/// The statuses of a single reason (M3); every other one is a 503.
const STATUSES: &[(&str, u16)] = &[
    ("auth", 502),
    ("billing", 402),
    ("format", 400),
    ("rate_limit", 429),
];

/// What stands behind the model that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Nothing.
    One,
    /// Another key.
    Profiles,
    /// Another model.
    Chain,
}

const SHAPES: &[Shape] = &[Shape::One, Shape::Profiles, Shape::Chain];

struct Cell {
    number: usize,
    fault: &'static str,
    meets: Meets,
    wire: Wire,
    stream: bool,
    shape: Shape,
}

impl Cell {
    /// Every fault in one shape.
    fn all(wire: Wire, stream: bool, shape: Shape) -> Vec<Self> {
        let cell = |(number, expected): (usize, &Expected)| Self {
            number,
            fault: expected.fault,
            meets: if stream { expected.stream } else { expected.plain },
            wire,
            stream,
            shape,
        };
        EXPECTED.iter().enumerate().map(cell).collect()
    }

    fn faulty(&self) -> String {
        format!("f{}", self.number)
    }

    fn good(&self) -> String {
        format!("g{}", self.number)
    }

    fn keys(&self) -> &'static [&'static str] {
        match self.shape {
            Shape::One | Shape::Chain => &["one"],
            Shape::Profiles => &["one", "two"],
        }
    }

    /// What the request names: the model alone, or an agent whose chain goes on.
    fn model(&self) -> String {
        match self.shape {
            Shape::One | Shape::Profiles => format!("{}/{}", self.faulty(), self.fault),
            Shape::Chain => format!("openclaw/c{}", self.number),
        }
    }

    /// The calls that the faulty upstream gets, by rule.
    fn calls(&self) -> usize {
        match self.meets {
            Meets::Answer | Meets::Broken => 1,
            Meets::Failure { rotates, repeats, .. } => {
                let keys = if rotates { self.keys().len() } else { 1 };
                keys + usize::from(repeats && self.shape != Shape::Chain)
            }
        }
    }

    /// Whether the model after the faulty one is asked.
    fn goes_on(&self) -> bool {
        self.shape == Shape::Chain && matches!(self.meets, Meets::Failure { .. })
    }

    async fn check(&self, world: &World, wall: &Wall) -> Result<(), String> {
        let received = self.ask(world).await;
        let mut wrong = String::new();
        let mut expect = |what: &str, found: &dyn std::fmt::Debug, expected: &dyn std::fmt::Debug| {
            let (found, expected) = (format!("{found:?}"), format!("{expected:?}"));
            if found != expected {
                writeln!(wrong, "    {what}: {found} instead of {expected}").expect("a string takes text");
            }
        };
        let (faulty, good) = (wall.seen(&self.faulty()), wall.seen(&self.good()));
        expect("calls of the faulty upstream", &faulty.len(), &self.calls());
        expect("calls of the next one", &good.len(), &usize::from(self.goes_on()));
        let text = self.wire.text_of(&received.body, self.stream);
        let tag = if self.fault == "other" { "other" } else { "token" };
        let (whole, five) = (answer(tag, tokens(self.fault)), answer("token", 5));
        match self.meets {
            Meets::Answer => expect("answer", &(received.status, text), &(200, Ok::<_, String>(whole))),
            Meets::Broken => {
                expect("status", &received.status, &200);
                expect("a proper end", &text.is_ok(), &false);
                expect("what came before", &received.body.contains("token.1 "), &true);
                expect("an end in the stream and not under it", &received.whole, &true);
                expect(
                    "the error",
                    &received.body.contains("the answer broke off"),
                    &true,
                );
            }
            Meets::Failure { .. } if self.goes_on() => {
                expect("answer", &(received.status, text), &(200, Ok::<_, String>(five)));
                let served = format!("{}/ok", self.good());
                expect(
                    "served",
                    &received.header("x-openclaw-served-model"),
                    &Some(served.as_str()),
                );
            }
            Meets::Failure { reason, .. } => {
                let status = STATUSES.iter().find(|(known, _)| *known == reason);
                expect(
                    "status",
                    &received.status,
                    &status.map_or(503, |(_, status)| *status),
                );
                expect(
                    "type",
                    &received.header("content-type"),
                    &Some("application/json"),
                );
            }
        }
        if let Meets::Failure { reason, repeats, .. } = self.meets {
            expect(
                "first failure",
                &received.header("x-openclaw-first-failure-reason"),
                &Some(reason),
            );
            let again = received.header("x-openclaw-immediate-retry").is_some();
            expect("one call more", &again, &(repeats && self.shape != Shape::Chain));
        }
        if wrong.is_empty() {
            return Ok(());
        }
        let Self {
            fault,
            wire,
            stream,
            shape,
            ..
        } = self;
        let body = received.body.get(..300).unwrap_or(&received.body);
        Err(format!(
            "{fault} {wire:?} stream={stream} {shape:?}\n{wrong}    body: {body}\n"
        ))
    }

    async fn ask(&self, world: &World) -> Received {
        let (model, stream) = (self.model(), self.stream);
        let body = match self.wire {
            Wire::ChatCompletions | Wire::Messages => json!({
                "model": model, "stream": stream, "max_tokens": 9, "messages": [{"role": "user", "content": "Say something."}],
            }),
            Wire::Responses => json!({"model": model, "stream": stream, "input": "Say something."}),
        };
        let path = format!("/v1/{}", self.wire.path());
        let request = client()
            .post(world.url(&path))
            .header("content-type", "application/json");
        Received::of(request.body(body.to_string())).await
    }
}

/// What a good answer says.
fn answer(tag: &str, tokens: usize) -> String {
    let tokens: Vec<String> = (0..tokens).map(|number| format!("{tag}.{number} ")).collect();
    tokens.concat()
}

/// How many tokens a good answer has.
fn tokens(fault: &str) -> usize {
    fault
        .strip_prefix("ok-")
        .and_then(|count| count.parse().ok())
        .unwrap_or(5)
}

fn config(cells: &[Cell], wall: &Wall) -> String {
    let (mut agents, mut providers) = (String::new(), String::new());
    for cell in cells {
        let (number, fault, api) = (cell.number, cell.fault, cell.wire.api());
        for provider in [cell.faulty(), cell.good()] {
            let url = wall.base_url(&provider);
            write!(providers, "{provider}: {{ baseUrl: '{url}', api: '{api}' }}, ")
                .expect("a string takes text");
        }
        if cell.shape == Shape::Chain {
            write!(
                agents,
                "{{ id: 'c{number}', model: {{ primary: 'f{number}/{fault}', fallbacks: ['g{number}/ok'] }} }}, "
            )
            .expect("a string takes text");
        }
    }
    format!(
        "{{ agents: {{ defaults: {{ model: 'f0/ok' }}, list: [{agents}] }}, models: {{ providers: {{ {providers} }} }} }}"
    )
}

/// Short waits for the providers that nothing else ends.
fn settings(cells: &[Cell]) -> String {
    let is_impatient = |cell: &&Cell| IMPATIENT.iter().any(|fault| cell.fault.starts_with(fault));
    let rows = cells
        .iter()
        .filter(is_impatient)
        .map(|cell| format!("{}: {LIMITS}, ", cell.faulty()));
    format!(
        "{{ deadlines: {{ providers: {{ {} }} }} }}",
        rows.collect::<String>()
    )
}

/// Stores the keys of all cells.
async fn store(state: &Path, cells: &[Cell]) {
    let directory = state.join("agents/main/agent");
    let now = SystemClock.now();
    let store = SqliteAuthStore::open(
        &directory,
        &AgentId::main(),
        Vec::new(),
        openclaw_cooldown::CooldownConfig::default(),
        now,
    )
    .unwrap();
    let keys = cells.iter().flat_map(|cell| {
        let faulty = cell.keys().iter().map(move |key| (cell.faulty(), *key));
        faulty.chain([(cell.good(), "one")])
    });
    let upserts = keys.map(|(provider, key)| {
        let id = ProfileId::try_new(&format!("{provider}:{key}")).unwrap();
        let credential = Credential::api_key(ProviderId::try_new(&provider).unwrap(), Secret::new(key));
        store.upsert(id, credential, now)
    });
    let stored: Vec<_> = futures_util::stream::iter(upserts)
        .buffer_unordered(64)
        .collect()
        .await;
    stored.into_iter().collect::<Result<(), _>>().unwrap();
}

/// Cells of a gateway that are tried at the same time.
const AT_ONCE: usize = 8;

/// What is wrong with the cells of one shape.
async fn wrong(wire: Wire, stream: bool, shape: Shape) -> Vec<String> {
    let (cells, wall) = (Cell::all(wire, stream, shape), Wall::start().await.unwrap());
    let state = tempfile::tempdir().unwrap();
    store(state.path(), &cells).await;
    let config = config(&cells, &wall);
    let world = World::open_in(state, &settings(&cells), Vec::new(), &config, &[]).await;
    let checks = cells.iter().map(|cell| cell.check(&world, &wall));
    let checks = futures_util::stream::iter(checks).buffer_unordered(AT_ONCE);
    let mut wrong: Vec<String> = checks.filter_map(async |checked| checked.err()).collect().await;
    wrong.extend(uncounted(&cells, &world.get("/metrics", &[]).await.body));
    if timeout(Duration::from_secs(10), wall.left_alone()).await.is_err() {
        wrong.push(format!(
            "{wire:?} stream={stream} {shape:?}: an upstream was not hung up on"
        ));
    }
    wrong
}

/// What the metrics should have counted of some cells, and did not, or of others, and did.
fn uncounted(cells: &[Cell], scrape: &str) -> Vec<String> {
    let counts = |metric: &str, cell: &Cell| {
        let provider = format!("provider=\"{}\"", cell.faulty());
        let is_about = |line: &&str| line.starts_with(metric) && line.contains(&provider);
        scrape.lines().find(is_about).map(str::to_owned)
    };
    let mut wrong = Vec::new();
    for cell in cells {
        let repeats =
            matches!(cell.meets, Meets::Failure { repeats: true, .. }) && cell.shape != Shape::Chain;
        let skips = cell.fault == "malformed" && cell.stream;
        for (metric, expected) in [
            ("openclaw_immediate_retries_total{", repeats),
            ("openclaw_skipped_events_total{", skips),
        ] {
            let found = counts(metric, cell);
            let is_right = match &found {
                Some(line) => expected && line.ends_with(" 1"),
                None => !expected,
            };
            if !is_right {
                let (fault, wire, shape) = (cell.fault, cell.wire, cell.shape);
                wrong.push(format!(
                    "{fault} {wire:?} {shape:?}: {metric} says {found:?}, expected {expected}\n"
                ));
            }
        }
    }
    wrong
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_fault_in_every_shape() {
    let shapes = Wire::ALL.into_iter().flat_map(|wire| {
        let shapes = SHAPES.iter().flat_map(|shape| [(true, *shape), (false, *shape)]);
        shapes.map(move |(stream, shape)| wrong(wire, stream, shape))
    });
    let all = futures_util::future::join_all(shapes).await.concat();
    assert!(all.is_empty(), "{} wrong cells\n{}", all.len(), all.concat());
}

#[test]
fn every_fault_of_the_wall_is_in_the_matrix() {
    for row in FAULTS {
        let (stem, _) = row.name.split_at(
            row.name
                .find(|c: char| c.is_ascii_uppercase())
                .unwrap_or(row.name.len()),
        );
        assert!(
            EXPECTED.iter().any(|expected| expected.fault.starts_with(stem)),
            "{}",
            row.name
        );
    }
}
