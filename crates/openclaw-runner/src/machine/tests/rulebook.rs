//! The rules of a run, one by one, as far as no scenario shows them.

use std::collections::HashMap;
use std::time::Duration;

use openclaw_auth_store::UsageChange;
use openclaw_classify::{AbortedBy, Failure, Reason, Transport};
use openclaw_session::{Progress, SelectionSnapshot, TurnKind};

use super::super::*;
use super::rules::{limited_for, model, play, status};
use super::world::{Ending, Trace, World};
use crate::attempt::{AttemptCall, Rejection, RejectionKind, Repair};
use crate::record::decision::{DecisionKind, StepOutcome};
use crate::request::{PersistPolicy, RunSession};

fn text(message: &str) -> Failure {
    Failure {
        message: Some(message.to_owned()),
        ..Failure::default()
    }
}

fn code(code: &str) -> Failure {
    Failure {
        code: Some(code.to_owned()),
        ..Failure::default()
    }
}

fn positions(trace: &Trace) -> Vec<usize> {
    trace.calls.iter().map(|(position, _)| *position).collect()
}

fn in_session(chain: &[&str]) -> RunRequest {
    let chain: Vec<_> = chain.iter().map(|name| model(name)).collect();
    RunRequest {
        session: Some(RunSession {
            sticky: std::collections::BTreeMap::new(),
            key: "agent:main:main".parse().unwrap(),
            id: "session-1".parse().unwrap(),
            kind: TurnKind::Normal,
            read: SelectionSnapshot::default(),
            persist: PersistPolicy::BeforeAttempt,
            probe: None,
        }),
        ..World::request(&chain)
    }
}

/// The steps of a run until its end, each answered by what `outcomes` says of attempts.
fn steps(mut machine: Machine, world: &mut World, mut outcomes: Vec<Failure>) -> (Vec<Step>, Outcome) {
    let mut steps = Vec::new();
    outcomes.reverse();
    for _ in 0..machine.max_steps() {
        let step = machine.next();
        let event = match &step {
            Step::Attempt(_) => match outcomes.pop() {
                Some(failure) => Event::Failed(Box::new(failure), Progress::Clean),
                None => Event::Succeeded,
            },
            Step::Commit(change) => {
                let applied = world
                    .snapshot
                    .apply(change, world.now, &world.policy.auth.cooldowns);
                Event::Committed(Arc::new(world.snapshot.clone()), applied)
            }
            Step::Finish(_) => {
                let Step::Finish(outcome) = step else {
                    unreachable!()
                };
                return (steps, *outcome);
            }
            Step::LookForSwitch(..) => Event::Switch(None),
            Step::Persist(_) => Event::Persisted(None),
            Step::Repair(..) => Event::Repaired(Repair::None),
            Step::MarkPrimaryProbe | Step::NoteAuthFailure(..) | Step::RollBack(_) | Step::Sleep(_) => {
                Event::Done
            }
        };
        steps.push(step);
        machine.on(event, world.now);
    }
    panic!("the run did not end within its bound");
}

fn machine(world: &World, request: RunRequest) -> Machine {
    let snapshot = Arc::new(world.snapshot.clone());
    Machine::new(
        request,
        Arc::clone(&world.policy),
        "holder".to_owned(),
        snapshot,
        world.now,
    )
}

fn calls(steps: &[Step]) -> Vec<&AttemptCall> {
    fn call(step: &Step) -> Option<&AttemptCall> {
        match step {
            Step::Attempt(call) => Some(call),
            _ => None,
        }
    }
    steps.iter().filter_map(call).collect()
}

#[test]
fn r_1_1_an_attempt_is_told_whether_it_is_the_last_and_whether_it_probes() {
    let mut world = World::new(&HashMap::from([("openai", 1), ("groq", 1)]));
    play(&mut world, &["openai/gpt", "groq/llama"], vec![status(429)]);
    world.pass(31_000);
    play(&mut world, &["openai/gpt", "groq/llama"], vec![status(429)]);
    world.pass(31_000);
    // R-4.5b: the second window is near its end.
    let request = World::request(&[model("openai/gpt"), model("groq/llama")]);
    let (steps, _) = steps(machine(&world, request), &mut world, vec![status(429)]);
    let told: Vec<_> = calls(&steps)
        .iter()
        .map(|call| {
            (
                call.allow_transient_cooldown_probe,
                call.is_final_fallback_attempt,
            )
        })
        .collect();
    assert_eq!(told, [(true, false), (false, true)]);
}

#[test]
fn r_4_4c_a_probe_is_on_record_before_its_attempt_begins() {
    let mut world = World::new(&HashMap::from([("openai", 1)]));
    play(&mut world, &["openai/gpt"], vec![status(429)]);
    world.pass(100);
    let request = World::request(&[model("openai/gpt")]);
    let (steps, _) = steps(machine(&world, request), &mut world, vec![]);
    assert!(
        matches!(
            &steps[..],
            [
                Step::Commit(UsageChange::ProbeStart { .. }),
                Step::Attempt(_),
                Step::Commit(UsageChange::ProbeEnd { .. })
            ]
        ),
        "{steps:?}"
    );
}

#[test]
fn r_1_2_a_run_completes_ends_with_a_kept_answer_or_fails() {
    let chain = [model("openai/gpt"), model("groq/llama")];
    let useless = || {
        Ending::Rejected(Rejection {
            failure: Failure::default(),
            kind: RejectionKind::Useless,
            preserve: Some(0),
        })
    };
    let ends = |outcomes: Vec<Ending>| {
        let mut world = World::new(&HashMap::new());
        world
            .play(World::request(&chain), &mut outcomes.into_iter())
            .outcome
    };
    let failed = || Ending::from(status(503));
    assert!(matches!(ends(vec![failed()]), Outcome::Completed(..)));
    assert!(matches!(ends(vec![useless(), failed()]), Outcome::Preserved(..)));
    // R-8.4: two records are a summary.
    assert!(matches!(ends(vec![failed(), failed()]), Outcome::Exhausted(..)));
}

#[test]
fn r_5_1a_a_failure_that_only_looks_aborted_is_a_failure() {
    let mut world = World::new(&HashMap::new());
    let trace = play(
        &mut world,
        &["openai/gpt", "groq/llama"],
        vec![text("This operation was aborted")],
    );
    assert_eq!(positions(&trace), [0, 1]);
    let by_us = Failure {
        transport: Some(Transport::Aborted(AbortedBy::Us)),
        ..Failure::default()
    };
    let trace = play(&mut world, &["openai/gpt", "groq/llama"], vec![by_us]);
    assert!(matches!(trace.outcome, Outcome::Aborted(_)));
}

#[test]
fn r_5_1b_r_5_5_what_is_recognised_gets_its_reason_and_the_reasons_status() {
    for (failure, reason, status) in [
        (code("insufficient_credits"), Reason::Billing, Some(402)),
        (code("rate_limit_exceeded"), Reason::RateLimit, Some(429)),
        (code("ModelNotReadyException"), Reason::Overloaded, Some(503)),
        (code("invalid_api_key"), Reason::Auth, Some(401)),
        (code("api_key_revoked"), Reason::AuthPermanent, Some(403)),
        (code("ETIMEDOUT"), Reason::Timeout, Some(408)),
        (
            code("context_length_exceeded"),
            Reason::ContextOverflow,
            Some(413),
        ),
        (code("model_not_found"), Reason::ModelNotFound, Some(404)),
        (
            text("No conversation found with session ID: 1"),
            Reason::SessionExpired,
            Some(410),
        ),
        (text("Something strange happened"), Reason::Unclassified, None),
    ] {
        let mut world = World::new(&HashMap::new());
        let trace = play(&mut world, &["openai/gpt"], vec![failure]);
        let attempt = match trace.outcome {
            Outcome::Failed(attempt, _) | Outcome::Surfaced(attempt, _) => attempt,
            outcome => panic!("{outcome:?}"),
        };
        assert_eq!(
            (attempt.record.reason, attempt.record.status),
            (Some(reason), status)
        );
    }
}

#[test]
fn r_5_2b_bl_61_everything_recognised_leads_on() {
    let statuses = [401, 402, 403, 404, 408, 410, 429].into_iter().chain(500..=599);
    for code in statuses {
        let mut world = World::new(&HashMap::from([("openai", 1)]));
        let trace = play(&mut world, &["openai/gpt", "groq/llama"], vec![status(code)]);
        assert_eq!(positions(&trace), [0, 1], "{code}");
    }
}

#[test]
fn r_5_2c_an_overflow_that_only_a_code_or_status_tells_stops_the_chain_too() {
    for failure in [code("context_length_exceeded"), status(413)] {
        let mut world = World::new(&HashMap::new());
        let trace = play(&mut world, &["openai/gpt", "groq/llama"], vec![failure]);
        assert!(
            matches!(trace.outcome, Outcome::Surfaced(..)),
            "{:?}",
            trace.outcome
        );
    }
}

#[test]
fn r_9_5f_a_provider_that_is_not_ready_rotates_like_an_overloaded_one() {
    let mut world = World::new(&HashMap::from([("openai", 3)]));
    let busy = || code("ModelNotReadyException");
    let trace = play(&mut world, &["openai/gpt", "groq/llama"], vec![busy(), busy()]);
    assert_eq!(positions(&trace), [0, 0, 1]);
}

#[test]
fn r_6_4_only_a_fallbacks_real_refusal_in_a_session_is_remembered() {
    let noted = |request: RunRequest, failures: Vec<Failure>, keys: &[(&str, usize)]| {
        let mut world = World::new(&keys.iter().copied().collect());
        let (steps, _) = steps(machine(&world, request), &mut world, failures);
        let note = |step: &Step| match step {
            Step::NoteAuthFailure(candidate, reason) => Some((candidate.key(), *reason)),
            _ => None,
        };
        steps.iter().filter_map(note).collect::<Vec<_>>()
    };
    let chain = ["openai/gpt", "groq/llama", "local/qwen"];
    let refused = || vec![status(401), status(401)];
    let found = noted(in_session(&chain), refused(), &[]);
    assert_eq!(
        found,
        [("groq/llama".to_owned(), Reason::Auth)],
        "not the primary"
    );
    let stateless = World::request(&chain.map(model));
    assert_eq!(noted(stateless, refused(), &[]), []);
    assert_eq!(noted(in_session(&chain), vec![status(429), status(429)], &[]), []);
}

#[test]
fn r_6_5_the_requested_model_is_asked_although_it_refused_a_moment_ago() {
    let chain = ["openai/gpt", "groq/llama", "local/qwen"];
    let mut cache = crate::skip_cache::SkipCache::default();
    let mut world = World::new(&HashMap::new());
    let session = in_session(&chain).session.unwrap().id;
    for name in &chain[..2] {
        let ttl = Duration::from_mins(1);
        cache.record(session.clone(), model(name), Reason::Auth, ttl, world.now);
    }
    let markers = cache.markers(&session, world.now);
    let machine = machine(&world, in_session(&chain)).with_auth_skips(markers);
    let (steps, _) = steps(machine, &mut world, vec![status(503)]);
    let asked: Vec<_> = calls(&steps).iter().map(|call| call.position).collect();
    assert_eq!(asked, [1, 3]);
}

#[test]
fn r_8_5_a_skip_is_no_last_error() {
    let mut world = World::new(&HashMap::from([("openai", 1)]));
    play(&mut world, &["openai/gpt"], vec![status(401)]);
    let trace = play(&mut world, &["openai/gpt"], vec![]);
    let Outcome::Exhausted(summary, _) = trace.outcome else {
        panic!("{:?}", trace.outcome)
    };
    assert_eq!(summary.attempts.len(), 1, "R-8.3: a summary of one");
}

#[test]
fn r_10_1_r_10_4_the_soonest_end_counts_candidates_that_were_never_reached() {
    let mut world = World::new(&HashMap::from([("openai", 1), ("groq", 1)]));
    play(&mut world, &["groq/llama"], vec![limited_for(20)]);
    play(&mut world, &["openai/gpt"], vec![limited_for(600)]);
    let overflow = Failure {
        status: Some(400),
        code: Some("context_length_exceeded".to_owned()),
        ..Failure::default()
    };
    let trace = play(
        &mut world,
        &["local/qwen", "openai/gpt", "groq/llama"],
        vec![overflow],
    );
    let Outcome::Surfaced(_, report) = trace.outcome else {
        panic!("{:?}", trace.outcome)
    };
    let soonest = report.soonest_cooldown_expiry.unwrap().duration_since(world.now);
    assert_eq!(
        soonest.as_secs(),
        29,
        "the ladder's 30 s, less the time of the calls since"
    );
}

#[test]
fn r_12_5b_m2_a_success_shows_what_the_failures_step_showed() {
    let body = r#"429 {"error":{"type":"rate_limit_error","message":"slow down, key sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}}"#;
    let mut world = World::new(&HashMap::new());
    let trace = play(&mut world, &["openai/gpt", "groq/llama"], vec![text(body)]);
    let Outcome::Completed(_, report) = trace.outcome else {
        panic!("{:?}", trace.outcome)
    };
    let details: Vec<_> = report
        .decisions()
        .map(|decision| {
            let step = decision.step.as_ref().unwrap();
            (
                decision.kind,
                step.final_outcome,
                step.from_failure_detail.as_deref().unwrap().to_owned(),
            )
        })
        .collect();
    let [(failed, next, first), (succeeded, done, second)] = &details[..] else {
        panic!("{details:?}")
    };
    assert_eq!(
        (failed, succeeded),
        (&DecisionKind::CandidateFailed, &DecisionKind::CandidateSucceeded)
    );
    assert_eq!(
        (next, done),
        (&StepOutcome::NextFallback, &StepOutcome::Succeeded)
    );
    assert_eq!(first, second);
    assert!(
        first.starts_with("slow down") && !first.contains("AAAAAAAA"),
        "{first}"
    );
}

/// BL-59: a decision is part of what the attempt came to, so a run cannot be over while a candidate is left.
#[test]
fn bl_59_a_run_never_ends_while_a_candidate_is_left() {
    for count in 1..12 {
        let names: Vec<String> = (0..count).map(|number| format!("p{number}/m")).collect();
        let chain: Vec<_> = names.iter().map(|name| model(name)).collect();
        let mut world = World::new(&HashMap::new());
        let failures = vec![status(503); count - 1];
        let mut endings = failures.into_iter().map(Ending::from);
        let trace = world.play(World::request(&chain), &mut endings);
        assert_eq!(trace.calls.len(), count);
        assert!(matches!(trace.outcome, Outcome::Completed(..)));
    }
}
