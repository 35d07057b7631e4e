//! A process in which runs follow each other: scripted attempts over a usage state that lives on.

use std::collections::HashMap;
use std::time::Duration;

use openclaw_auth_store::{Credential, UsageChange};
use openclaw_chain::Requested;
use openclaw_classify::{Failure, TimeoutPhase, TimerOwner, Transport};
use openclaw_session::Progress;
use proptest::prelude::*;
use serde_json::json;

use super::super::*;
use crate::attempt::{Rejection, RejectionKind, Repair};

/// What an attempt may come to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fate {
    Aborted,
    Answer,
    Overflow,
    Refused,
    /// A format failure whose request can be repaired.
    Repairable,
    /// A failure after something was seen.
    Seen(u16),
    SilentRoute,
    Status(u16),
    /// An answer of no use, kept with this priority.
    Useless(Option<i32>),
}

pub(super) fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        1 => Just(Fate::Aborted),
        3 => Just(Fate::Answer),
        1 => Just(Fate::Overflow),
        2 => Just(Fate::Refused),
        1 => Just(Fate::Repairable),
        1 => prop::sample::select(vec![401, 429, 503]).prop_map(Fate::Seen),
        2 => prop::option::of(-1..3_i32).prop_map(Fate::Useless),
        1 => Just(Fate::SilentRoute),
        12 => prop::sample::select(vec![400, 401, 402, 403, 404, 408, 418, 429, 500, 503, 529]).prop_map(Fate::Status),
    ]
}

/// How an attempt ends.
pub(super) enum Ending {
    AttemptAnswers,
    Fails(Failure, Progress),
    Rejected(Rejection),
    /// Fails, and its request can be repaired.
    Repairable(Failure),
}

impl From<Failure> for Ending {
    fn from(failure: Failure) -> Self {
        Self::Fails(failure, Progress::Clean)
    }
}

pub(super) fn ending(fate: Fate) -> Ending {
    let failed = Failure::default();
    let status = |status| Failure {
        status: Some(status),
        ..Failure::default()
    };
    Ending::from(match fate {
        Fate::Aborted => Failure {
            transport: Some(Transport::Aborted(openclaw_classify::AbortedBy::Caller)),
            ..failed
        },
        Fate::Answer => return Ending::AttemptAnswers,
        Fate::Overflow => Failure {
            status: Some(400),
            code: Some("context_length_exceeded".into()),
            ..failed
        },
        Fate::Refused => Failure {
            transport: Some(Transport::Refused),
            ..failed
        },
        Fate::Repairable => return Ending::Repairable(status(400)),
        Fate::Seen(code) => return Ending::Fails(status(code), Progress::Visible),
        Fate::SilentRoute => Failure {
            transport: Some(Transport::Timeout(TimeoutPhase::FirstByte, TimerOwner::Us)),
            ..failed
        },
        Fate::Status(code) => status(code),
        Fate::Useless(preserve) => {
            return Ending::Rejected(Rejection {
                failure: failed,
                kind: RejectionKind::Useless,
                preserve,
            });
        }
    })
}

/// A process: its usage state lives on from run to run.
pub(super) struct World {
    pub(super) snapshot: AuthSnapshot,
    pub(super) policy: Arc<RunPolicy>,
    pub(super) now: Timestamp,
    /// The changes that cannot be written.
    pub(super) lost: fn(&UsageChange) -> bool,
}

/// What a run did.
pub(super) struct Trace {
    pub(super) outcome: Outcome,
    pub(super) calls: Vec<(usize, Option<ProfileId>)>,
    pub(super) marks: usize,
    pub(super) waits: Vec<Duration>,
    pub(super) repairs: usize,
}

impl World {
    pub(super) fn new(profiles: &HashMap<&str, usize>) -> Self {
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
            lost: |_| false,
        }
    }

    pub(super) fn request(chain: &[ModelRef]) -> RunRequest {
        RunRequest {
            run_id: "run".to_owned(),
            session: None,
            lane: None,
            requested: Requested::from(&chain[0]),
            chain: chain.to_vec(),
            pin: None,
        }
    }

    pub(super) fn run(&mut self, chain: &[ModelRef], fates: &mut impl Iterator<Item = Fate>) -> Trace {
        self.play(Self::request(chain), &mut fates.map(ending))
    }

    /// Plays one run; an outcome that is not written down is an answer.
    pub(super) fn play(&mut self, request: RunRequest, outcomes: &mut dyn Iterator<Item = Ending>) -> Trace {
        self.play_with(request, &RunOptions::default(), outcomes)
    }

    /// Plays one run with options of its own.
    pub(super) fn play_with(
        &mut self,
        request: RunRequest,
        options: &RunOptions,
        outcomes: &mut dyn Iterator<Item = Ending>,
    ) -> Trace {
        let policy = Arc::clone(&self.policy);
        let snapshot = Arc::new(self.snapshot.clone());
        let mut machine =
            Machine::new(request, policy, "run".to_owned(), snapshot, self.now).with_options(options);
        let (mut calls, mut marks, mut waits) = (Vec::new(), 0, Vec::new());
        let (mut repairable, mut repairs) = (false, 0);
        for _ in 0..machine.max_steps() {
            let event = match machine.next() {
                Step::Attempt(call) => {
                    calls.push((call.position - 1, call.profile.clone()));
                    self.pass(7);
                    let ending = outcomes.next().unwrap_or(Ending::AttemptAnswers);
                    repairable = matches!(ending, Ending::Repairable(_));
                    match ending {
                        Ending::AttemptAnswers => Event::Succeeded,
                        Ending::Fails(failure, progress) => Event::Failed(Box::new(failure), progress),
                        Ending::Rejected(rejection) => Event::Rejected(Box::new(rejection), Progress::Clean),
                        Ending::Repairable(failure) => Event::Failed(Box::new(failure), Progress::Clean),
                    }
                }
                Step::Commit(change) if (self.lost)(&change) => {
                    Event::CommitFailed(Arc::new(self.snapshot.clone()))
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
                        repairs,
                    };
                }
                Step::Repair(..) if repairable => {
                    repairs += 1;
                    Event::Repaired(Repair::Done)
                }
                Step::Repair(..) => Event::Repaired(Repair::None),
                Step::Sleep(wait) => {
                    self.pass(i64::try_from(wait.as_millis()).unwrap());
                    waits.push(wait);
                    Event::Done
                }
                step @ (Step::LookForSwitch(..)
                | Step::MarkPrimaryProbe
                | Step::NoteAuthFailure(..)
                | Step::Persist(_)
                | Step::RollBack(_)) => {
                    panic!("a stateless run asked for {step:?}")
                }
            };
            machine.on(event, self.now);
        }
        panic!("the run did not end within its bound");
    }

    pub(super) fn pass(&mut self, millis: i64) {
        self.now = Timestamp::from_millisecond(self.now.as_millisecond() + millis).unwrap();
    }
}
