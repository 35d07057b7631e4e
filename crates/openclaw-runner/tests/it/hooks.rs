//! What an attempt may say beyond its outcome: useless answers, repairs, what was seen (R-7, R4, BL-92).

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use openclaw_auth_store::{AuthSnapshot, Credential, MemoryAuthStore, UsageStore};
use openclaw_chain::Requested;
use openclaw_classify::{Failure, Reason};
use openclaw_runner::{
    Attempt, AttemptCall, CompletedRun, Judgement, MergedAnswer, Rejection, RejectionKind, Repair,
    RotationKind, RunError, RunEvent, RunPolicy, RunReport, RunRequest, Runner, Standing,
};
use openclaw_session::{MemorySessionStore, Progress};
use serde_json::json;

use crate::clock::PausedClock;
use crate::scenario::START;

/// How one attempt ends.
#[derive(Clone)]
enum Ending {
    Fails(Failure),
    Answers(&'static str),
    Rejects(&'static str, Rejection),
}

/// Plays endings, one per call; then answers.
#[derive(Default)]
struct Hooked {
    endings: Mutex<VecDeque<Ending>>,
    rejection: Mutex<Option<Rejection>>,
    calls: Mutex<Vec<String>>,
    repairs: Mutex<usize>,
    repairable: bool,
    visible: bool,
    joins: bool,
}

impl Hooked {
    fn new(endings: impl IntoIterator<Item = Ending>) -> Self {
        Self {
            endings: Mutex::new(endings.into_iter().collect()),
            ..Self::default()
        }
    }

    fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }
}

impl Attempt for Hooked {
    type Output = String;

    async fn attempt(&self, call: AttemptCall) -> Result<String, Failure> {
        let profile = call.profile.map(|profile| profile.to_string());
        let called = format!("{}@{}", call.candidate, profile.unwrap_or_default());
        self.calls.lock().unwrap().push(called);
        let ending = self.endings.lock().unwrap().pop_front();
        match ending.unwrap_or(Ending::Answers("ok")) {
            Ending::Answers(text) => Ok(text.to_owned()),
            Ending::Fails(failure) => Err(failure),
            Ending::Rejects(text, rejection) => {
                *self.rejection.lock().unwrap() = Some(rejection);
                Ok(text.to_owned())
            }
        }
    }

    fn classify_result(&self, _output: &String, _call: &AttemptCall) -> Judgement {
        let rejection = self.rejection.lock().unwrap().take();
        rejection.map_or(Judgement::Accepted, Judgement::Rejected)
    }

    fn merge_exhausted(&self, latest: String, preserved: String) -> MergedAnswer<String> {
        if self.joins {
            MergedAnswer::Latest(format!("{preserved} and {latest}"))
        } else {
            MergedAnswer::Preserved(preserved)
        }
    }

    fn repair_format(&self, _call: &AttemptCall, failure: &Failure) -> Repair {
        assert!(failure.status.is_some());
        *self.repairs.lock().unwrap() += 1;
        if self.repairable {
            Repair::Done
        } else {
            Repair::None
        }
    }

    fn progress(&self) -> Progress {
        if self.visible {
            Progress::Visible
        } else {
            Progress::Clean
        }
    }
}

type Outcome = Result<CompletedRun<String, PausedClock, MemoryAuthStore, MemorySessionStore>, RunError>;

/// Runs over `anthropic/claude` and `openai/gpt`, two credentials each.
async fn run(attempt: &Hooked) -> (Outcome, Arc<MemoryAuthStore>) {
    let start = Timestamp::from_second(START).unwrap();
    let mut snapshot = AuthSnapshot::default();
    for id in ["anthropic:a", "anthropic:b", "openai:a", "openai:b"] {
        let provider = id.split(':').next().unwrap();
        let entry = json!({ "type": "api_key", "provider": provider, "key": format!("sk-{id}") });
        snapshot
            .profiles
            .insert(id.parse().unwrap(), Credential::from_json(&entry).unwrap());
    }
    let policy = Arc::new(RunPolicy::default());
    let usage = Arc::new(MemoryAuthStore::new(snapshot, policy.auth.cooldowns.clone()));
    let sessions = Arc::new(MemorySessionStore::default());
    let clock = Arc::new(PausedClock::new(start));
    let runner = Runner::new(clock, Arc::clone(&usage), sessions, policy);
    let request = RunRequest {
        run_id: "run-1".to_owned(),
        session: None,
        lane: None,
        requested: Requested::default(),
        chain: vec!["anthropic/claude".parse().unwrap(), "openai/gpt".parse().unwrap()],
        pin: None,
    };
    (runner.run(request, attempt).await, usage)
}

fn status(status: u16, message: &str) -> Failure {
    Failure {
        status: Some(status),
        message: Some(message.to_owned()),
        ..Failure::default()
    }
}

fn rejected(text: &'static str, kind: RejectionKind, failure: Failure, preserve: Option<i32>) -> Ending {
    let rejection = Rejection {
        failure,
        kind,
        preserve,
    };
    Ending::Rejects(text, rejection)
}

fn useless(text: &'static str, preserve: Option<i32>) -> Ending {
    let failure = Failure {
        code: Some("empty_result".to_owned()),
        message: Some("the model said nothing".to_owned()),
        ..Failure::default()
    };
    rejected(text, RejectionKind::Useless, failure, preserve)
}

fn reasons(report: &RunReport) -> Vec<Option<Reason>> {
    report.attempts.iter().map(|record| record.reason).collect()
}

fn rotations(report: &RunReport) -> Vec<RotationKind> {
    let rotations = report.events.iter().filter_map(|event| match event {
        RunEvent::Candidate(_) => None,
        RunEvent::Rotation(rotation) => Some(rotation.kind),
    });
    rotations.collect()
}

#[tokio::test(start_paused = true)]
async fn r_7_a1_a_useless_answer_advances_without_a_mark() {
    let attempt = Hooked::new([useless("", None)]);
    let (outcome, usage) = run(&attempt).await;
    let done = outcome.unwrap();
    assert_eq!(done.value, "ok");
    assert_eq!(
        attempt.calls(),
        ["anthropic/claude@anthropic:a", "openai/gpt@openai:a"]
    );
    assert_eq!(reasons(&done.report), [Some(Reason::EmptyResponse)]);
    let record = &done.report.attempts[0];
    assert_eq!(record.code.as_deref(), Some("empty_result"));
    assert!(usage.snapshot().usage.windowed().next().is_none());
}

#[tokio::test(start_paused = true)]
async fn r_7_2_a_failure_inside_an_answer_is_judged_like_any_other() {
    let limited = status(429, "Too many requests");
    let attempt = Hooked::new([rejected("limit", RejectionKind::Failure, limited, None)]);
    let (outcome, usage) = run(&attempt).await;
    assert_eq!(
        attempt.calls(),
        ["anthropic/claude@anthropic:a", "anthropic/claude@anthropic:b"]
    );
    assert_eq!(outcome.unwrap().value, "ok");
    let marked = usage
        .snapshot()
        .usage(&"anthropic:a".parse().unwrap())
        .windows
        .len();
    assert_eq!(marked, 1);
}

#[tokio::test(start_paused = true)]
async fn r_7_4_the_kept_answer_of_the_highest_priority_ends_the_chain() {
    for (first, second, expected) in [
        (Some(5), Some(1), "a"),
        (Some(1), Some(5), "b"),
        (Some(1), Some(1), "b"),
        (Some(-1), None, "a"),
        (None, Some(-1), "b"),
    ] {
        let attempt = Hooked::new([useless("a", first), useless("b", second)]);
        let (outcome, usage) = run(&attempt).await;
        let done = outcome.unwrap();
        assert_eq!(done.value, expected, "{first:?} {second:?}");
        assert_eq!(done.winner.standing, Standing::Preserved);
        let model = if expected == "a" {
            "anthropic/claude"
        } else {
            "openai/gpt"
        };
        assert_eq!(done.winner.candidate.key(), model);
        assert_eq!(done.report.attempts.len(), 2);
        done.run.finished().await;
        assert!(usage.snapshot().last_good.is_empty(), "no success is marked");
    }
}

#[tokio::test(start_paused = true)]
async fn r_7_4_a_kept_answer_is_joined_with_the_latest() {
    let mut attempt = Hooked::new([useless("a", Some(5)), useless("b", None)]);
    attempt.joins = true;
    let (outcome, _) = run(&attempt).await;
    let done = outcome.unwrap();
    assert_eq!(
        (done.value.as_str(), done.winner.candidate.key().as_str()),
        ("a and b", "openai/gpt")
    );
}

#[tokio::test(start_paused = true)]
async fn r_7_4_r_8_1_errors_after_a_kept_answer() {
    let limited = Ending::Fails(status(503, "busy"));
    let attempt = Hooked::new([useless("a", Some(0)), limited.clone(), limited]);
    assert_eq!(run(&attempt).await.0.unwrap().value, "a");
    let strange = Ending::Fails(status(418, "Something strange happened"));
    let attempt = Hooked::new([useless("a", Some(0)), strange]);
    let error = run(&attempt).await.0.unwrap_err();
    assert!(matches!(error, RunError::Failed(..)), "{error}");
}

#[tokio::test(start_paused = true)]
async fn r_7_without_a_kept_answer_the_summary_names_every_candidate() {
    let attempt = Hooked::new([useless("", None), useless("", None)]);
    let error = run(&attempt).await.0.unwrap_err();
    assert_eq!(
        error.to_string(),
        "All models failed (2): anthropic/claude: the model said nothing (empty_response) | openai/gpt: the model said \
         nothing (empty_response)"
    );
}

fn unreadable() -> Ending {
    Ending::Fails(status(
        400,
        "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    ))
}

#[tokio::test(start_paused = true)]
async fn r4_a_repaired_request_goes_once_to_the_same_candidate_and_credential() {
    let mut attempt = Hooked::new([unreadable()]);
    attempt.repairable = true;
    let (outcome, _) = run(&attempt).await;
    let done = outcome.unwrap();
    assert_eq!(
        attempt.calls(),
        ["anthropic/claude@anthropic:a", "anthropic/claude@anthropic:a"]
    );
    assert_eq!(rotations(&done.report), [RotationKind::RetryRepaired]);

    let mut attempt = Hooked::new([unreadable(), unreadable()]);
    attempt.repairable = true;
    let error = run(&attempt).await.0.unwrap_err();
    assert!(matches!(error, RunError::Surfaced(..)), "{error}");
    assert_eq!((attempt.calls().len(), *attempt.repairs.lock().unwrap()), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn r4_what_cannot_be_repaired_surfaces_at_once() {
    let attempt = Hooked::new([unreadable()]);
    let error = run(&attempt).await.0.unwrap_err();
    assert!(matches!(error, RunError::Surfaced(..)), "{error}");
    assert_eq!(attempt.calls().len(), 1);
}

/// what was seen stands, for failures that were thrown and for answers that were judged alike.
#[tokio::test(start_paused = true)]
async fn bl_92_after_something_was_seen_no_further_attempt_is_made() {
    for ending in [
        Ending::Fails(status(429, "Too many requests")),
        Ending::Fails(status(401, "Incorrect API key provided")),
        Ending::Fails(status(503, "busy")),
        Ending::Fails(status(418, "Something strange happened")),
        unreadable(),
        useless("", Some(3)),
    ] {
        let mut attempt = Hooked::new([ending]);
        attempt.visible = true;
        attempt.repairable = true;
        let error = run(&attempt).await.0.unwrap_err();
        assert!(matches!(error, RunError::Surfaced(..)), "{error}");
        assert_eq!(attempt.calls().len(), 1, "{error}");
    }
}
