//! The machine alone, driven by random outcomes over a real usage state.

mod rules;
mod world;

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::decision::DecisionKind;
use crate::summary::CandidateOutcome;

use world::{Fate, World, fate};

const MODELS: &[&str] = &[
    "anthropic/claude",
    "anthropic/haiku",
    "openai/gpt",
    "openai/mini",
    "groq/llama",
    "local/qwen",
];

proptest! {
    /// BL-30, BL-40, BL-51: every candidate is visited once or skipped with a record, no credential is asked twice
    /// for one model, at most one mark per call, and the run ends within its bound.
    #[test]
    fn every_candidate_has_exactly_one_record(
        chain in prop::sample::subsequence(MODELS, 1..=MODELS.len()).prop_shuffle(),
        keys in prop::collection::vec(0..4_usize, 4),
        runs in prop::collection::vec((0..700_000_i64, prop::collection::vec(fate(), 0..14)), 1..8),
    ) {
        let chain: Vec<ModelRef> = chain.iter().map(|text| text.parse().unwrap()).collect();
        let providers = ["anthropic", "openai", "groq", "local"];
        let mut world = World::new(&providers.into_iter().zip(keys).collect());
        for (pause, fates) in runs {
            world.pass(pause);
            let trace = world.run(&chain, &mut fates.into_iter());
            let (report, ended_early) = match &trace.outcome {
                Outcome::Completed(winner, report) => {
                    prop_assert_eq!(&chain[winner.index], &winner.candidate);
                    prop_assert_eq!(trace.calls.last().unwrap(), &(winner.index, winner.profile.clone()));
                    prop_assert!(report.attempts.iter().all(|record| record.candidate != winner.candidate));
                    (report, true)
                }
                Outcome::Aborted(report) | Outcome::LimitReached(_, _, report) | Outcome::Surfaced(_, report) => (report, true),
                Outcome::Exhausted(_, report) | Outcome::Failed(_, report) | Outcome::Preserved(_, report) => (report, false),
            };
            let recorded: Vec<_> = report.attempts.iter().map(|record| record.candidate.clone()).collect();
            let mut expected = chain.clone();
            if ended_early {
                expected.retain(|candidate| recorded.contains(candidate));
            }
            prop_assert_eq!(&recorded, &expected, "one record each, in chain order");
            prop_assert_eq!(report.calls, trace.calls.len());
            prop_assert!(trace.marks <= trace.calls.len());
            let mut unique = trace.calls.clone();
            unique.sort();
            unique.dedup();
            prop_assert!(unique.len() + trace.waits.len() >= trace.calls.len(), "a credential was asked twice: {:?}", trace.calls);
            let called = |record: &&crate::summary::AttemptRecord| record.outcome == CandidateOutcome::Failed;
            for record in report.attempts.iter().filter(called) {
                let index = chain.iter().position(|candidate| *candidate == record.candidate).unwrap();
                prop_assert!(trace.calls.iter().any(|(at, _)| *at == index));
            }
            let leases = world.snapshot.probes.values().filter(|probe| probe.lease.is_some()).count();
            prop_assert_eq!(leases, 0, "a probe's lease outlives its run");
            for decision in report.decisions() {
                let resting = matches!(decision.kind, DecisionKind::SkipCandidate | DecisionKind::ProbeCooldownCandidate);
                prop_assert!(!resting || decision.reason.is_some(), "a skip without a reason");
            }
        }
    }

    /// BL-32: what is the caller's or the payload's fault leaves no mark, whatever came before.
    #[test]
    fn the_callers_faults_mark_nothing(fate in prop::sample::select(vec![Fate::Aborted, Fate::Overflow, Fate::Status(418), Fate::Status(400)])) {
        let chain: Vec<ModelRef> = vec!["openai/gpt".parse().unwrap()];
        let mut world = World::new(&HashMap::from([("openai", 2)]));
        let trace = world.run(&chain, &mut [fate].into_iter());
        prop_assert_eq!(trace.marks, 0);
        prop_assert!(world.snapshot.usage.values().all(|usage| usage.windows.is_empty()));
    }
}
