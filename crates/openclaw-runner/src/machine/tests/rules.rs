//! Single rules of the machine, one story each.

use std::collections::HashMap;
use std::time::Duration;

use openclaw_auth_store::{ChangeOutcome, UsageChange};
use openclaw_classify::{Failure, Header, Reason, TimeoutPhase, TimerOwner, Transport};
use openclaw_cooldown::Lane;
use openclaw_session::Progress;
use serde_json::json;

use super::super::*;
use super::world::{Ending, Trace, World};
use crate::record::decision::DecisionKind;
use crate::record::summary::CandidateOutcome;

pub(super) fn model(text: &str) -> ModelRef {
    text.parse().unwrap()
}

pub(super) fn status(status: u16) -> Failure {
    Failure {
        status: Some(status),
        ..Failure::default()
    }
}

pub(super) fn limited_for(seconds: u32) -> Failure {
    let retry_after = Header {
        name: "retry-after".to_owned(),
        value: seconds.to_string(),
    };
    Failure {
        status: Some(429),
        headers: vec![retry_after],
        ..Failure::default()
    }
}

/// Plays one run: what is not written down answers.
pub(super) fn play(world: &mut World, chain: &[&str], failures: Vec<Failure>) -> Trace {
    let chain: Vec<_> = chain.iter().map(|text| model(text)).collect();
    world.play(
        World::request(&chain),
        &mut failures.into_iter().map(Ending::from),
    )
}

#[test]
fn d2_a_retry_after_an_inline_wait_belongs_to_the_same_episode() {
    let mut world = World::new(&HashMap::from([("openai", 1)]));
    let trace = play(&mut world, &["openai/gpt"], vec![limited_for(2), limited_for(2)]);
    assert_eq!((trace.calls.len(), trace.waits.len()), (2, 1));
    let usage = world.snapshot.usage(&"openai:0".parse().unwrap());
    let window = &usage.windows[&Lane::Model("gpt".parse().unwrap())];
    assert_eq!(window.steps, 1, "one episode, one step");
}

#[test]
fn bl_51_who_is_found_free_while_a_probe_is_asked_for_is_called() {
    let mut world = World::new(&HashMap::from([("openai", 1)]));
    let chain = ["openai/gpt", "groq/llama"].map(model);
    for pause in [31_000, 35_000] {
        play(&mut world, &["openai/gpt"], vec![status(503)]);
        world.pass(pause);
    }
    for (is_free, called) in [(false, 2), (true, 1)] {
        let request = World::request(&chain);
        let (policy, known) = (Arc::clone(&world.policy), Arc::new(world.snapshot.clone()));
        let mut machine = Machine::new(request, policy, "run".to_owned(), known, world.now);
        let step = machine.next();
        assert!(
            matches!(step, Step::Commit(UsageChange::ProbeStart { .. })),
            "{step:?}"
        );
        let mut meanwhile = world.snapshot.clone();
        if is_free {
            // The probe of another run was answered.
            meanwhile.usage = openclaw_auth_store::UsageMap::default();
        }
        machine.on(
            Event::Committed(Arc::new(meanwhile), ChangeOutcome::HeldElsewhere),
            world.now,
        );
        let Step::Attempt(call) = machine.next() else {
            panic!("a call is due")
        };
        assert_eq!(call.position, called);
    }
}

#[test]
fn g4_a_probe_whose_lease_cannot_be_written_is_not_made() {
    let mut world = World::new(&HashMap::from([("openai", 1)]));
    for pause in [31_000, 35_000] {
        play(&mut world, &["openai/gpt"], vec![status(503)]);
        world.pass(pause);
    }
    world.lost = |change| matches!(change, UsageChange::ProbeStart { .. });
    let trace = play(&mut world, &["openai/gpt", "groq/llama"], vec![]);
    assert_eq!(trace.calls, [(1, None)], "only the other candidate is called");
    let Outcome::Completed(_, report) = trace.outcome else {
        panic!("{:?}", trace.outcome)
    };
    let kinds: Vec<_> = report.decisions().map(|decision| decision.kind).collect();
    assert_eq!(
        kinds,
        [DecisionKind::SkipCandidate, DecisionKind::CandidateSucceeded]
    );
}

#[test]
fn g3_an_answer_of_the_last_resort_replaces_the_candidates_skip() {
    let mut world = World::new(&HashMap::from([("openai", 1), ("groq", 1)]));
    let chain = ["openai/gpt", "groq/llama"];
    for _ in 0..3 {
        play(&mut world, &chain, vec![status(503), status(503)]);
        world.pass(61_000);
    }
    let trace = play(&mut world, &chain, vec![]);
    let Outcome::Completed(winner, report) = trace.outcome else {
        panic!("{:?}", trace.outcome)
    };
    let left: Vec<_> = report
        .attempts
        .iter()
        .map(|record| record.candidate.key())
        .collect();
    assert_eq!((winner.index, left), (0, vec!["groq/llama".to_owned()]));
    let success = report.decisions().last().unwrap();
    assert_eq!(
        success.previous_attempts.len(),
        1,
        "the winner is not among those that failed (R-1.3)"
    );
}

#[test]
fn g3_a_last_resort_that_surfaces_replaces_its_skip() {
    let mut world = World::new(&HashMap::from([("openai", 1), ("groq", 1)]));
    let chain = ["openai/gpt", "groq/llama"];
    for _ in 0..3 {
        play(&mut world, &chain, vec![status(503), status(503)]);
        world.pass(61_000);
    }
    let models: Vec<ModelRef> = chain.iter().map(|text| text.parse().unwrap()).collect();
    let seen = Ending::Fails(status(401), Progress::Visible);
    let trace = world.play(World::request(&models), &mut vec![seen].into_iter());
    let Outcome::Surfaced(attempt, report) = trace.outcome else {
        panic!("{:?}", trace.outcome)
    };
    assert_eq!(attempt.record.candidate, models[0]);
    let left: Vec<_> = report
        .attempts
        .iter()
        .map(|record| (&record.candidate, record.outcome))
        .collect();
    assert_eq!(
        left,
        [
            (&models[0], CandidateOutcome::Failed),
            (&models[1], CandidateOutcome::Skipped)
        ],
        "what was asked is not recorded as skipped (R-1.3)"
    );
}

#[test]
fn r_10_4_the_soonest_end_is_told_after_everything_the_run_wrote() {
    let mut world = World::new(&HashMap::from([("openai", 1)]));
    let refused = Failure {
        transport: Some(Transport::Refused),
        ..Failure::default()
    };
    let trace = play(&mut world, &["openai/gpt"], vec![refused]);
    let rests = trace.outcome.into_report().soonest_cooldown_expiry;
    assert!(rests.is_some(), "the endpoint rests");
    world.pass(1_000);
    let trace = play(&mut world, &["openai/gpt"], vec![]);
    let Outcome::Completed(_, report) = trace.outcome else {
        panic!("{:?}", trace.outcome)
    };
    assert_eq!(report.soonest_cooldown_expiry, None, "the answer ended the rest");
}

#[test]
fn r_9_5d_the_overload_pause_also_comes_before_the_next_model() {
    let mut world = World::new(&HashMap::from([("openai", 1), ("groq", 1)]));
    let auth = json!({ "cooldowns": { "overloadedBackoffMs": 250, "overloadedProfileRotations": 1 } });
    world.policy = Arc::new(RunPolicy {
        auth: serde_json::from_value(auth).unwrap(),
        ..RunPolicy::default()
    });
    let trace = play(&mut world, &["openai/gpt", "groq/llama"], vec![status(529)]);
    assert_eq!(trace.waits, [Duration::from_millis(250)]);
}

#[test]
fn r_9_5d_no_pause_when_the_cap_sends_the_run_on_or_nothing_follows() {
    let mut world = World::new(&HashMap::from([("openai", 1), ("groq", 1)]));
    let auth = json!({ "cooldowns": { "overloadedBackoffMs": 250, "overloadedProfileRotations": 0 } });
    world.policy = Arc::new(RunPolicy {
        auth: serde_json::from_value(auth).unwrap(),
        ..RunPolicy::default()
    });
    let trace = play(
        &mut world,
        &["openai/gpt", "groq/llama"],
        vec![status(529), status(529)],
    );
    assert_eq!((trace.calls.len(), trace.waits), (2, vec![]));
}

#[test]
fn c_10_a_limit_of_the_caller_is_not_met_again_with_another_credential() {
    let mut world = World::new(&HashMap::from([("openai", 3)]));
    let timeout = Failure {
        transport: Some(Transport::Timeout(TimeoutPhase::Total, TimerOwner::Caller)),
        ..Failure::default()
    };
    let trace = play(&mut world, &["openai/gpt", "groq/llama"], vec![timeout]);
    let positions: Vec<_> = trace.calls.iter().map(|(position, _)| *position).collect();
    assert_eq!((positions, trace.marks), (vec![0, 1], 0));
}

#[test]
fn r_9_2b_the_probe_takes_the_credential_that_is_back_first_for_this_model() {
    let mut world = World::new(&HashMap::from([("openai", 2)]));
    play(&mut world, &["openai/gpt"], vec![status(503), status(503)]);
    // A long rest for another model moves the first credential to the end of the order.
    let elsewhere = UsageChange::Failure {
        profile: "openai:0".parse().unwrap(),
        event: openclaw_cooldown::FailureEvent {
            provider: "openai".parse().unwrap(),
            reason: Reason::ModelNotFound,
            scope: openclaw_cooldown::MarkScope::Model,
            model: Some("mini".parse().unwrap()),
            hint: None,
            started_at: None,
        },
    };
    for _ in 0..4 {
        world
            .snapshot
            .apply(&elsewhere, world.now, &world.policy.auth.cooldowns);
        world.pass(1);
    }
    world.pass(10_000);
    let trace = play(&mut world, &["openai/gpt"], vec![]);
    assert_eq!(trace.calls, [(0, Some("openai:0".parse().unwrap()))]);
}

#[test]
fn rules_of_one_provider_hold_when_the_attempt_does_not_say_who_was_asked() {
    let busy = Failure {
        message: Some("service in high demand, model busy".to_owned()),
        ..Failure::default()
    };
    let named = Failure {
        provider: Some("openai".parse().unwrap()),
        ..busy.clone()
    };
    let mut world = World::new(&HashMap::from([("openai", 1)]));
    let chain = [model("openai/gpt")];
    let judged = |world: &mut World, failure| match world
        .play(World::request(&chain), &mut [Ending::from(failure)].into_iter())
        .outcome
    {
        Outcome::Failed(attempt, _) => attempt.failure.provider.clone(),
        outcome => panic!("{outcome:?}"),
    };
    assert_eq!(judged(&mut world, busy), named.provider);
}

#[test]
fn a_probe_that_answers_leaves_no_first_failure() {
    let mut world = World::new(&HashMap::from([("openai", 1)]));
    play(&mut world, &["openai/gpt"], vec![status(503)]);
    world.pass(10_000);
    let trace = play(&mut world, &["openai/gpt"], vec![]);
    let Outcome::Completed(_, report) = trace.outcome else {
        panic!("{:?}", trace.outcome)
    };
    assert_eq!(report.decisions().count(), 2, "the probe and its success");
    assert_eq!(report.first_failure(), None);
}

#[test]
fn d15_a_resting_endpoint_says_when_the_chain_is_back() {
    let mut world = World::new(&HashMap::from([("openai", 1)]));
    let refused = Failure {
        transport: Some(Transport::Refused),
        ..Failure::default()
    };
    let trace = play(&mut world, &["openai/gpt"], vec![refused]);
    let Outcome::Failed(_, report) = trace.outcome else {
        panic!("{:?}", trace.outcome)
    };
    let back = report.soonest_cooldown_expiry.unwrap();
    assert_eq!(back.duration_since(world.now).as_secs(), 30);
}

#[test]
fn r_10_2_the_hint_names_the_provider_whose_login_failed_last() {
    for (first, second, hint) in [
        (429, 401, Some("groq")),
        (401, 429, None),
        (401, 403, Some("groq")),
        (429, 503, None),
    ] {
        let mut world = World::new(&HashMap::new());
        let trace = play(
            &mut world,
            &["openai/gpt", "groq/llama"],
            vec![status(first), status(second)],
        );
        let Outcome::Exhausted(summary, _) = trace.outcome else {
            panic!("{:?}", trace.outcome)
        };
        let expected =
            hint.map(|provider| format!("openclaw models auth login --provider '{provider}' --force"));
        let shown = summary.to_string();
        match expected {
            Some(command) => assert!(
                shown.ends_with(&format!(". Re-authenticate with: {command}")),
                "{shown}"
            ),
            None => assert!(!shown.contains("Re-authenticate"), "{shown}"),
        }
    }
}

#[test]
fn r_10_2_a_skip_is_no_last_error() {
    let mut world = World::new(&HashMap::from([("openai", 1), ("groq", 1)]));
    play(&mut world, &["groq/llama"], vec![status(402)]);
    let trace = play(&mut world, &["openai/gpt", "groq/llama"], vec![status(401)]);
    let Outcome::Exhausted(summary, _) = trace.outcome else {
        panic!("{:?}", trace.outcome)
    };
    assert!(summary.to_string().contains("--provider 'openai'"), "{summary}");
}

#[test]
fn r_1_3_status_and_code_are_those_of_the_outermost_level_that_has_them() {
    let socket = Failure {
        code: Some("ECONNRESET".to_owned()),
        ..Failure::default()
    };
    let wrapped = Failure {
        message: Some("fetch failed".to_owned()),
        cause: Some(Box::new(socket)),
        ..Failure::default()
    };
    let mut world = World::new(&HashMap::new());
    let trace = play(&mut world, &["openai/gpt"], vec![wrapped]);
    let Outcome::Failed(attempt, _) = trace.outcome else {
        panic!("{:?}", trace.outcome)
    };
    assert_eq!(attempt.record.code.as_deref(), Some("ECONNRESET"));
}

#[test]
fn bl_15_a_request_larger_than_its_limit_is_not_made_again_at_the_same_model() {
    let too_large = Failure {
        status: Some(429),
        message: Some(
            "Request too large for gpt-5.5 on tokens per min (TPM): Limit 12000, Requested 14137. Please try again in 2s."
                .to_owned(),
        ),
        ..Failure::default()
    };
    let mut world = World::new(&HashMap::from([("openai", 3)]));
    let trace = play(&mut world, &["openai/gpt", "groq/llama"], vec![too_large.clone()]);
    let positions: Vec<_> = trace.calls.iter().map(|(position, _)| *position).collect();
    assert_eq!((positions, trace.waits), (vec![0, 1], vec![]));
    let mut world = World::new(&HashMap::from([("openai", 3)]));
    let trace = play(&mut world, &["openai/gpt"], vec![too_large]);
    assert_eq!((trace.calls.len(), trace.waits), (1, vec![]));
}
