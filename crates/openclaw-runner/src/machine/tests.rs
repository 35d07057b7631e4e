//! The machine alone, driven by random outcomes over a real usage state.

use std::collections::HashMap;

use openclaw_auth_store::Credential;
use openclaw_chain::Requested;
use openclaw_classify::{TimeoutPhase, TimerOwner, Transport};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::decision::DecisionKind;
use crate::summary::CandidateOutcome;

/// What an attempt may come to.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Aborted,
    Answer,
    Overflow,
    Refused,
    SilentRoute,
    Status(u16),
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        1 => Just(Fate::Aborted),
        3 => Just(Fate::Answer),
        1 => Just(Fate::Overflow),
        2 => Just(Fate::Refused),
        1 => Just(Fate::SilentRoute),
        12 => prop::sample::select(vec![400, 401, 402, 403, 404, 408, 418, 429, 500, 503, 529]).prop_map(Fate::Status),
    ]
}

fn failure(fate: Fate) -> Option<Failure> {
    let failed = Failure::default();
    Some(match fate {
        Fate::Aborted => Failure {
            transport: Some(Transport::Aborted(openclaw_classify::AbortedBy::Caller)),
            ..failed
        },
        Fate::Answer => return None,
        Fate::Overflow => Failure {
            status: Some(400),
            code: Some("context_length_exceeded".into()),
            ..failed
        },
        Fate::Refused => Failure {
            transport: Some(Transport::Refused),
            ..failed
        },
        Fate::SilentRoute => Failure {
            transport: Some(Transport::Timeout(TimeoutPhase::FirstByte, TimerOwner::Us)),
            ..failed
        },
        Fate::Status(status) => Failure {
            status: Some(status),
            ..failed
        },
    })
}

/// A process: its usage state lives on from run to run.
struct World {
    snapshot: AuthSnapshot,
    policy: Arc<RunPolicy>,
    now: Timestamp,
}

/// What a run did.
struct Trace {
    outcome: Outcome,
    calls: Vec<(usize, Option<ProfileId>)>,
    marks: usize,
    waits: usize,
}

impl World {
    fn new(profiles: &HashMap<&str, usize>) -> Self {
        let mut snapshot = AuthSnapshot::default();
        for (provider, count) in profiles {
            for number in 0..*count {
                let entry = json!({ "type": "api_key", "provider": provider, "key": format!("sk-{number}") });
                let id = format!("{provider}:{number}").parse().unwrap();
                snapshot
                    .profiles
                    .insert(id, Credential::from_json(&entry).unwrap());
            }
        }
        let endpoints = profiles.keys().map(|provider| {
            let provider: ProviderId = provider.parse().unwrap();
            let base_url = format!("https://{provider}.test/v1");
            (
                provider.clone(),
                openclaw_auth_store::EndpointKey { provider, base_url },
            )
        });
        let policy = RunPolicy {
            endpoints: endpoints.collect(),
            ..RunPolicy::default()
        };
        Self {
            snapshot,
            policy: Arc::new(policy),
            now: Timestamp::from_second(1_772_366_400).unwrap(),
        }
    }

    fn run(&mut self, chain: &[ModelRef], fates: &mut impl Iterator<Item = Fate>) -> Trace {
        let request = RunRequest {
            run_id: "run".to_owned(),
            session: None,
            lane: None,
            requested: Requested::from(&chain[0]),
            chain: chain.to_vec(),
            pin: None,
        };
        let policy = Arc::clone(&self.policy);
        let mut machine = Machine::new(
            request,
            policy,
            "run".to_owned(),
            Arc::new(self.snapshot.clone()),
            self.now,
        );
        let (mut calls, mut marks, mut waits) = (Vec::new(), 0, 0);
        for _ in 0..machine.max_steps() {
            let event = match machine.next() {
                Step::Attempt(call) => {
                    calls.push((call.position - 1, call.profile.clone()));
                    self.pass(7);
                    match failure(fates.next().unwrap_or(Fate::Answer)) {
                        Some(failure) => Event::Failed(Box::new(failure)),
                        None => Event::Succeeded,
                    }
                }
                Step::Commit(change) => {
                    marks += usize::from(matches!(change, UsageChange::Failure { .. }));
                    let applied = self
                        .snapshot
                        .apply(&change, self.now, &self.policy.auth.cooldowns);
                    Event::Committed(Arc::new(self.snapshot.clone()), applied)
                }
                Step::Finish(outcome) => {
                    return Trace {
                        outcome: *outcome,
                        calls,
                        marks,
                        waits,
                    };
                }
                Step::Sleep(_) => {
                    waits += 1;
                    Event::Done
                }
                step @ (Step::MarkPrimaryProbe | Step::Persist(_) | Step::RollBack(_)) => {
                    panic!("a stateless run asked for {step:?}")
                }
            };
            machine.on(event, self.now);
        }
        panic!("the run did not end within its bound");
    }

    fn pass(&mut self, millis: i64) {
        self.now = Timestamp::from_millisecond(self.now.as_millisecond() + millis).unwrap();
    }
}

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
                    (report, true)
                }
                Outcome::Aborted(report) | Outcome::Surfaced(_, report) => (report, true),
                Outcome::Exhausted(_, report) | Outcome::Failed(_, report) => (report, false),
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
            prop_assert!(unique.len() + trace.waits >= trace.calls.len(), "a credential was asked twice: {:?}", trace.calls);
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
