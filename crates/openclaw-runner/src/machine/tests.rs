//! The machine alone, driven by random outcomes over a real usage state.

mod endpoints;
mod options;
mod rulebook;
mod rules;
mod world;

use std::collections::HashMap;
use std::num::NonZeroUsize;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::*;
use crate::record::decision::DecisionKind;
use crate::record::summary::CandidateOutcome;
use crate::request::{InlineWait, RunLimits, RunSettings};

use world::{Fate, Trace, World, fate};

const MODELS: &[&str] = &[
    "anthropic/claude",
    "anthropic/haiku",
    "openai/gpt",
    "openai/mini",
    "groq/llama",
    "local/qwen",
];

proptest! {
    /// BL-30, BL-40, BL-51, BL-92, G4, R-1.3, R-7.4, R-9.3, A8: see docs/invariants.md.
    #[test]
    fn every_run_keeps_its_promises(
        chain in prop::sample::subsequence(MODELS, 1..=MODELS.len()).prop_shuffle(),
        keys in prop::collection::vec(0..4_usize, 4),
        attempts in prop::option::weighted(0.3, 1..5_usize),
        inline_wait_when in prop::sample::select(vec![InlineWait::Always, InlineWait::NothingElseLeft]),
        runs in prop::collection::vec((0..700_000_i64, prop::collection::vec(fate(), 0..14)), 1..8),
    ) {
        let chain: Vec<ModelRef> = chain.iter().map(|text| text.parse().unwrap()).collect();
        let providers = ["anthropic", "openai", "groq", "local"];
        let mut world = World::new(&providers.into_iter().zip(keys).collect());
        let limits = RunLimits { attempts: attempts.and_then(NonZeroUsize::new), duration: None };
        world.policy = Arc::new(RunPolicy {
            settings: RunSettings { inline_wait_when, limits, ..RunSettings::default() },
            ..(*world.policy).clone()
        });
        for (pause, fates) in runs {
            world.pass(pause);
            let trace = world.run(&chain, &mut fates.clone().into_iter());
            let played: Vec<Fate> = (0..trace.calls.len()).map(|at| fates.get(at).copied().unwrap_or(Fate::Answer)).collect();
            check(&world, &chain, &trace, &played, attempts)?;
        }
    }

    /// BL-32: what is the caller's or the payload's fault leaves no mark, whatever came before.
    #[test]
    fn the_callers_faults_mark_nothing(fate in prop::sample::select(vec![
        Fate::Aborted, Fate::Overflow, Fate::Status(418), Fate::Status(400), Fate::Useless(None), Fate::Useless(Some(1)),
    ])) {
        let chain: Vec<ModelRef> = vec!["openai/gpt".parse().unwrap()];
        let mut world = World::new(&HashMap::from([("openai", 2)]));
        let trace = world.run(&chain, &mut [fate].into_iter());
        prop_assert_eq!(trace.marks, 0);
        prop_assert!(world.snapshot.usage.windowed().next().is_none());
    }
}

/// What holds after every run.
fn check(
    world: &World,
    chain: &[ModelRef],
    trace: &Trace,
    played: &[Fate],
    attempts: Option<usize>,
) -> Result<(), TestCaseError> {
    let (report, ended_early) = match &trace.outcome {
        Outcome::Completed(winner, report) => {
            prop_assert_eq!(&chain[winner.index], &winner.candidate);
            prop_assert_eq!(
                trace.calls.last().unwrap(),
                &(winner.index, winner.profile.clone())
            );
            prop_assert!(
                report
                    .attempts
                    .iter()
                    .all(|record| record.candidate != winner.candidate)
            );
            prop_assert!(matches!(played.last(), Some(Fate::Answer)));
            (report, true)
        }
        Outcome::Preserved(preserved, report) => {
            let kept = played.get(preserved.kept.0 - 1);
            let best = played.iter().filter_map(|fate| match fate {
                Fate::Useless(priority) => *priority,
                _ => None,
            });
            prop_assert!(
                matches!(kept, Some(Fate::Useless(priority)) if *priority == best.max()),
                "the best kept answer: {:?} of {:?}",
                kept,
                played
            );
            (report, false)
        }
        Outcome::Aborted(report) => {
            prop_assert!(matches!(played.last(), Some(Fate::Aborted)));
            (report, true)
        }
        Outcome::LimitReached(_, _, report) => {
            prop_assert_eq!(Some(trace.calls.len()), attempts);
            (report, true)
        }
        Outcome::Surfaced(_, report) => (report, true),
        Outcome::Exhausted(_, report) | Outcome::Failed(_, report) => (report, false),
    };
    prop_assert!(attempts.is_none_or(|most| trace.calls.len() <= most));
    let after_seen = played
        .iter()
        .position(|fate| matches!(fate, Fate::Seen(_) | Fate::Aborted));
    prop_assert!(
        after_seen.is_none_or(|at| at + 1 == played.len()),
        "a call after the end: {:?}",
        played
    );
    let recorded: Vec<_> = report
        .attempts
        .iter()
        .map(|record| record.candidate.clone())
        .collect();
    let mut expected = chain.to_vec();
    if ended_early {
        expected.retain(|candidate| recorded.contains(candidate));
    }
    prop_assert_eq!(&recorded, &expected, "one record each, in chain order");
    prop_assert_eq!(report.calls, trace.calls.len());
    prop_assert!(trace.marks <= trace.calls.len());
    let mut unique = trace.calls.clone();
    unique.sort();
    unique.dedup();
    prop_assert!(
        unique.len() + trace.waits.len() + trace.repairs >= trace.calls.len(),
        "a credential was asked twice: {:?}",
        trace.calls
    );
    for record in report
        .attempts
        .iter()
        .filter(|record| record.outcome == CandidateOutcome::Failed)
    {
        let index = chain
            .iter()
            .position(|candidate| *candidate == record.candidate)
            .unwrap();
        prop_assert!(trace.calls.iter().any(|(at, _)| *at == index));
    }
    let leases = world
        .snapshot
        .probes
        .values()
        .filter(|probe| probe.lease.is_some())
        .count();
    prop_assert_eq!(leases, 0, "a probe's lease outlives its run");
    for decision in report.decisions() {
        let resting = matches!(
            decision.kind,
            DecisionKind::SkipCandidate | DecisionKind::ProbeCooldownCandidate
        );
        prop_assert!(!resting || decision.reason.is_some(), "a skip without a reason");
    }
    Ok(())
}
