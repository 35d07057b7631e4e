//! Runs over any script of outcomes keep their promises (docs/invariants.md), and the same script makes the same run.
#![no_main]

mod world;

use libfuzzer_sys::fuzz_target;
use openclaw_ids::ModelRef;
use openclaw_runner::machine::{Outcome, RunLimit};
use openclaw_runner::{CandidateOutcome, DecisionKind, RunReport};
use world::{Fate, Played, Script, World};

const MODELS: &[&str] =
    &["anthropic/claude", "anthropic/haiku", "openai/gpt", "openai/mini", "groq/llama", "local/qwen"];
const MOST_RUNS: usize = 5;

fuzz_target!(|data: &[u8]| {
    let once = play(data);
    // Each run is slow enough as it is.
    if data.len() % 8 == 0 {
        assert_eq!(once, play(data), "the same script makes the same runs");
    }
});

/// Plays runs after each other, over usage that lives on; what they decided, as text.
fn play(data: &[u8]) -> Vec<String> {
    let mut script = Script::new(data);
    let mut world = World::new(&mut script);
    let mut chain: Vec<ModelRef> = Vec::new();
    for _ in 0..=usize::from(script.next()) % MODELS.len() {
        let model = MODELS[usize::from(script.next()) % MODELS.len()].parse().expect("a model");
        if !chain.contains(&model) {
            chain.push(model);
        }
    }
    let mut told = Vec::new();
    for _ in 0..MOST_RUNS {
        if script.is_over() {
            break;
        }
        world.pause(&mut script);
        let played = world.play(&chain, &mut script);
        check(&world, &chain, &played);
        told.push(format!("{:?} {:?}", played.calls, played.outcome));
    }
    told
}

fn check(world: &World, chain: &[ModelRef], played: &Played) {
    let Played { outcome, calls, fates, .. } = played;
    let stopped = match outcome {
        Outcome::Completed(winner, report) => {
            assert_eq!(chain[winner.index], winner.candidate);
            assert_eq!(calls.last(), Some(&(winner.index, winner.profile.clone())), "the last call answered");
            let lost = report.attempts.iter().any(|record| record.candidate == winner.candidate);
            assert!(!lost, "who answered is not among those that failed");
            assert!(matches!(fates.last(), Some(Fate::Answer)));
            true
        }
        Outcome::Preserved(preserved, _) => {
            let priorities = fates.iter().filter_map(|fate| match fate {
                Fate::Useless(priority) => *priority,
                _ => None,
            });
            let kept = fates.get(preserved.kept.0.wrapping_sub(1));
            let best = priorities.max();
            assert!(matches!(kept, Some(Fate::Useless(found)) if *found == best), "the best kept answer: {fates:?}");
            false
        }
        Outcome::Aborted(_) => {
            assert!(matches!(fates.last(), Some(Fate::Aborted)));
            true
        }
        Outcome::LimitReached(limit, ..) => {
            match limit {
                RunLimit::Attempts => assert_eq!(Some(calls.len()), played.attempts, "every attempt was used"),
                RunLimit::Deadline => assert!(played.has_deadline, "there was a time to be over"),
            }
            true
        }
        Outcome::Surfaced(..) => true,
        Outcome::Exhausted(..) | Outcome::Failed(..) => false,
    };
    assert!(played.attempts.is_none_or(|most| calls.len() <= most), "no more calls than allowed");
    let end = fates.iter().position(|fate| matches!(fate, Fate::Seen(_) | Fate::Aborted | Fate::OutOfTime | Fate::Answer));
    assert!(end.is_none_or(|at| at + 1 == fates.len()), "a call after the end: {fates:?}");
    check_report(chain, played, report_of(outcome), stopped);
    check_credentials(played);
    if played.lost == 0 {
        let mut leases = world.snapshot.probes.values().filter_map(|probe| probe.lease.as_ref());
        assert!(leases.all(|lease| lease.holder != played.holder), "a probe's lease outlives its run");
        assert!(played.marks <= calls.len(), "at most one mark per call");
    }
}

fn report_of(outcome: &Outcome) -> &RunReport {
    match outcome {
        Outcome::Aborted(report)
        | Outcome::Completed(_, report)
        | Outcome::Exhausted(_, report)
        | Outcome::LimitReached(_, _, report)
        | Outcome::Preserved(_, report)
        | Outcome::Failed(_, report)
        | Outcome::Surfaced(_, report) => report,
    }
}

fn check_report(chain: &[ModelRef], played: &Played, report: &RunReport, stopped: bool) {
    let recorded: Vec<ModelRef> = report.attempts.iter().map(|record| record.candidate.clone()).collect();
    let mut expected = chain.to_vec();
    if stopped {
        expected.retain(|candidate| recorded.contains(candidate));
    }
    assert_eq!(recorded, expected, "one record each, in chain order");
    assert_eq!(report.calls, played.calls.len(), "the report counts the calls");
    for record in &report.attempts {
        let called = |at: usize| played.calls.iter().any(|(index, _)| *index == at);
        let at = chain.iter().position(|candidate| *candidate == record.candidate).expect("it is of the chain");
        match record.outcome {
            CandidateOutcome::Failed => assert!(called(at), "what failed was called"),
            CandidateOutcome::Skipped => assert!(record.reason.is_some(), "a skip without a reason"),
        }
    }
    for decision in report.decisions() {
        let rests = matches!(decision.kind, DecisionKind::SkipCandidate | DecisionKind::ProbeCooldownCandidate);
        assert!(!rests || decision.reason.is_some(), "a rest without a reason");
    }
}

/// R2, R4, BL-30: after a wait every credential may have come back, and a repaired request is another one.
fn check_credentials(played: &Played) {
    let most = 1 + played.waits + played.repairs;
    for call in &played.calls {
        let times = played.calls.iter().filter(|other| *other == call).count();
        assert!(times <= most, "a credential was asked {times} times: {played:?}");
    }
}
