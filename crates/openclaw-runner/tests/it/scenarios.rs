//! Plays the files of `fixtures/scenarios/`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use openclaw_auth_store::{AuthConfig, MemoryAuthStore, UsageStore};
use openclaw_chain::{OneOffPolicy, Resolver, RunKind};
use openclaw_ids::{AgentId, ModelRef, SessionId, SessionKey};
use openclaw_providers::AuthAliases;
use openclaw_runner::{
    ChainKind, Clock, CompletedRun, RunError, RunPolicy, RunRecorder, RunReport, Runner, Turn, TurnSession,
    plan,
};
use openclaw_session::{
    MemorySessionStore, Revision, SessionAge, SessionEntry, SessionStore, StoredPin, TurnKind,
};

use crate::clock::PausedClock;
use crate::report::Report;
use crate::scenario::{START, Scenario};
use crate::script::{Answer, Script, cut};
use crate::strip::{Strip, rests};

pub(crate) fn root() -> PathBuf {
    // Reading the path at compile time keeps the test independent of the directory it is started in.
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/scenarios")
}

/// The files in the order of their names.
pub(crate) fn files() -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(root())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json5"));
    paths.sort();
    assert!(!paths.is_empty(), "no scenarios in {}", root().display());
    paths
}

/// What came of a file.
pub(crate) struct Played {
    /// Its snapshot.
    pub(crate) text: String,
    /// What its runs reported.
    pub(crate) reports: Vec<RunReport>,
    /// The policy of its runs.
    pub(crate) policy: Arc<RunPolicy>,
    /// Its runs as the document shows them.
    pub(crate) strips: Vec<Strip>,
}

/// Plays one file in paused time.
pub(crate) fn played(path: &Path) -> Played {
    played_with(path, None)
}

/// Plays one file in paused time and records its runs.
pub(crate) fn played_with(path: &Path, recorder: Option<Arc<dyn RunRecorder>>) -> Played {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(play(&Scenario::read(path), recorder))
}

fn policy(scenario: &Scenario, auth: AuthConfig) -> RunPolicy {
    RunPolicy {
        auth,
        aliases: AuthAliases::default(),
        endpoints: scenario.endpoints(),
        settings: scenario.settings(),
    }
}

async fn play(scenario: &Scenario, recorder: Option<Arc<dyn RunRecorder>>) -> Played {
    let start = Timestamp::from_second(START).unwrap();
    let clock = Arc::new(PausedClock::new(start));
    let auth = scenario.auth_config();
    let usage = Arc::new(MemoryAuthStore::new(scenario.snapshot(), auth.cooldowns.clone()));
    let sessions = Arc::new(MemorySessionStore::default());
    let policy = Arc::new(policy(scenario, auth));
    let resolver = Resolver::new(&scenario.chain_config());
    let key: SessionKey = "agent:main:main".parse().unwrap();
    if let Some(members) = &scenario.session {
        sessions
            .compare_and_set(&key, Revision::NONE, entry(members, start))
            .await
            .unwrap();
    }
    let mut runner = Runner::new(
        Arc::clone(&clock),
        Arc::clone(&usage),
        Arc::clone(&sessions),
        Arc::clone(&policy),
    );
    if let Some(recorder) = recorder {
        runner = runner.with_recorder(recorder);
    }
    let (mut reports, mut strips) = (Vec::new(), Vec::new());
    let mut report = Report::new(&scenario.about, &scenario.rules, clock.start());
    for (index, run) in scenario.runs.iter().enumerate() {
        tokio::time::advance(run.after()).await;
        let stored = sessions.load(&key).await.unwrap();
        let turn = Turn {
            run_id: format!("run-{}", index + 1),
            agent: &AgentId::main(),
            run: run
                .model
                .as_deref()
                .map_or(RunKind::Turn, |model| RunKind::OneOff {
                    model: model.parse::<ModelRef>().unwrap(),
                    policy: OneOffPolicy::ChainWhenConfigured,
                }),
            kind: if run.model.is_some() {
                TurnKind::OneOff
            } else {
                TurnKind::Normal
            },
            session: stored.as_ref().map(|stored| TurnSession {
                key: &key,
                entry: &stored.entry,
                age: SessionAge::Continuing,
            }),
            lane: None,
        };
        let now = clock.now();
        let mut planned = plan(&resolver, &policy, &usage.snapshot(), turn, now);
        if run.kind() == ChainKind::Image {
            planned.request.chain = resolver.image_chain(None);
            (planned.request.pin, planned.pin_to_store) = (None, None);
        }
        let chain: Vec<String> = planned.request.chain.iter().map(ModelRef::key).collect();
        report.run(
            index + 1,
            now,
            &planned.selection.source.to_string(),
            &chain.join(", "),
        );
        if let Some(pin) = planned.pin_to_store {
            remember(&sessions, &key, &pin).await;
        }
        let options = scenario.options(run, &resolver, &planned.request.chain);
        let script = Script::in_session(run.script.clone(), &sessions, &key);
        let outcome = runner.run_with(planned.request, options, &*script).await;
        report.list("calls", &script.calls());
        reports.push(match &outcome {
            Ok(done) => done.report.clone(),
            Err(error) => error.report().clone(),
        });
        let mut strip = Strip::new(now.duration_since(start), chain, &outcome, clock.now());
        tell(&mut report, outcome, &clock).await;
        assert_eq!(
            script.unused(),
            Vec::<String>::new(),
            "the script of run {} expects more calls",
            index + 1
        );
        report.windows(&usage.snapshot(), clock.now());
        strip.rests = rests(&usage.snapshot(), clock.now());
        strips.push(strip);
        if let Some(stored) = sessions.load(&key).await.unwrap() {
            report.session(&stored.entry);
        }
    }
    Played {
        text: report.finish(),
        reports,
        policy,
        strips,
    }
}

pub(crate) type Outcome =
    Result<CompletedRun<Answer, PausedClock, MemoryAuthStore, MemorySessionStore>, RunError>;

/// Writes down how a run ended, and tells the run how its answer did.
async fn tell(report: &mut Report, outcome: Outcome, clock: &PausedClock) {
    match outcome {
        Ok(done) => {
            report.answered(&done.winner);
            report.records(&done.report);
            match done.value {
                Answer::Complete | Answer::Useless(_) => done.run.finished().await,
                Answer::Cut => {
                    let verdict = done.run.failed_late(&cut()).await;
                    report.list(
                        "late failure",
                        &verdict
                            .map(|verdict| verdict.reason.to_string())
                            .into_iter()
                            .collect::<Vec<_>>(),
                    );
                }
            }
        }
        Err(error) => {
            report.failed(&error, clock.now());
            report.records(error.report());
        }
    }
}

async fn remember(sessions: &MemorySessionStore, key: &SessionKey, pin: &StoredPin) {
    let stored = openclaw_session::update(sessions, key, |entry| {
        let mut entry = entry.cloned().unwrap();
        entry.pin = pin.clone();
        (Some(entry), ())
    });
    stored.await.unwrap();
}

fn entry(members: &serde_json::Map<String, serde_json::Value>, now: Timestamp) -> SessionEntry {
    let fresh = SessionEntry::new("session-1".parse::<SessionId>().unwrap(), now);
    let mut json = serde_json::to_value(fresh).unwrap();
    json.as_object_mut().unwrap().extend(members.clone());
    serde_json::from_value(json).unwrap()
}
