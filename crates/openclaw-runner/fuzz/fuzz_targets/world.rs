//! A process in which scripted runs follow each other: usage lives on, the clock may jump, writes may be lost.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use openclaw_auth_store::{AuthSnapshot, Credential, EndpointKey, Secret, UsageChange};
use openclaw_chain::Requested;
use openclaw_classify::{AbortedBy, Failure, Header, TimeoutPhase, TimerOwner, Transport};
use openclaw_ids::{ModelRef, ProfileId, ProviderId};
use openclaw_runner::machine::{Event, Machine, Outcome, Step};
use openclaw_runner::{
    ChainKind, InlineWait, Rejection, RejectionKind, Repair, RunLimits, RunOptions, RunPolicy, RunRequest,
};
use openclaw_session::Progress;

const PROVIDERS: &[&str] = &["anthropic", "openai", "groq", "local"];
const STATUSES: &[u16] = &[400, 401, 402, 403, 404, 408, 413, 418, 422, 429, 500, 502, 503, 529];

/// The bytes that decide everything; zeros when they are used up.
pub struct Script<'d> {
    rest: &'d [u8],
}

impl<'d> Script<'d> {
    pub fn new(rest: &'d [u8]) -> Self {
        Self { rest }
    }

    pub fn next(&mut self) -> u8 {
        let (first, rest) = self.rest.split_first().unwrap_or((&0, &[]));
        self.rest = rest;
        *first
    }

    pub fn is_over(&self) -> bool {
        self.rest.is_empty()
    }
}

/// What an attempt comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Aborted,
    Answer,
    OutOfTime,
    Overflow,
    Refused,
    Repairable,
    /// A failure after something was seen.
    Seen(u16),
    SilentRoute,
    Status(u16),
    /// A status with a time to come back, in seconds.
    Stated(u16, u8),
    Useless(Option<i32>),
}

impl Fate {
    fn of(script: &mut Script<'_>) -> Self {
        let (kind, detail) = (script.next(), script.next());
        let status = STATUSES[usize::from(detail) % STATUSES.len()];
        match kind % 16 {
            0 => Self::Answer,
            1 => Self::Aborted,
            2 => Self::Overflow,
            3 => Self::Refused,
            4 => Self::Repairable,
            5 => Self::Seen(status),
            6 => Self::SilentRoute,
            7 => Self::Useless((detail & 1 == 0).then_some(i32::from(detail >> 5) - 2)),
            8..=10 => Self::Stated(if kind & 16 == 0 { 429 } else { status }, detail),
            _ => Self::Status(status),
        }
    }
}

/// What a run did.
#[derive(Debug)]
pub struct Played {
    pub outcome: Outcome,
    /// Who it is in leases.
    pub holder: String,
    pub calls: Vec<(usize, Option<ProfileId>)>,
    pub fates: Vec<Fate>,
    pub attempts: Option<usize>,
    pub has_deadline: bool,
    pub marks: usize,
    pub waits: usize,
    pub repairs: usize,
    /// Writes that were lost.
    pub lost: usize,
}

/// A process.
pub struct World {
    pub snapshot: AuthSnapshot,
    policy: RunPolicy,
    now: Timestamp,
    runs: usize,
}

impl World {
    pub fn new(script: &mut Script<'_>) -> Self {
        let mut snapshot = AuthSnapshot::default();
        let mut policy = RunPolicy::default();
        let mut endpoints = Vec::new();
        for name in PROVIDERS {
            let provider: ProviderId = name.parse().expect("a provider");
            for key in 0..script.next() % 4 {
                let id: ProfileId = format!("{name}:{key}").parse().expect("an id");
                let secret = Secret::new(format!("{name}-{key}"));
                snapshot.profiles.insert(id, Credential::api_key(provider.clone(), secret));
            }
            let base_url = format!("https://{name}.test/v1");
            endpoints.push((provider.clone(), EndpointKey { provider, base_url }));
        }
        policy.endpoints = endpoints.into_iter().collect();
        let flags = script.next();
        policy.settings.inline_wait_when =
            if flags & 1 == 0 { InlineWait::Always } else { InlineWait::NothingElseLeft };
        policy.settings.advance_on_format = flags & 2 != 0;
        let now = Timestamp::from_second(1_772_366_400).expect("a time");
        Self { snapshot, policy, now, runs: 0 }
    }

    /// Time until the next run: mostly forwards, sometimes the clock is set back.
    pub fn pause(&mut self, script: &mut Script<'_>) {
        let (kind, much) = (script.next(), i64::from(script.next()));
        let millis = match kind % 8 {
            0 => -much * 60_000,
            1 => much * 3_600_000,
            2 | 3 => much * 60_000,
            4 => 0,
            _ => much * 1_000,
        };
        self.pass(millis);
    }

    fn pass(&mut self, millis: i64) {
        self.now = Timestamp::from_millisecond(self.now.as_millisecond() + millis).expect("a time");
    }

    fn options(script: &mut Script<'_>) -> RunOptions {
        let flags = script.next();
        let limits = RunLimits {
            attempts: (flags & 1 != 0).then(|| NonZeroUsize::MIN.saturating_add(usize::from(script.next() % 5))),
            duration: (flags & 2 != 0).then(|| Duration::from_secs(u64::from(script.next()))),
        };
        RunOptions {
            limits,
            kind: if flags & 12 == 12 { ChainKind::Image } else { ChainKind::Text },
            wait_for_reset: (flags & 48 == 48).then_some(Duration::from_mins(10)),
            ..RunOptions::default()
        }
    }

    pub fn play(&mut self, chain: &[ModelRef], script: &mut Script<'_>) -> Played {
        let options = Self::options(script);
        let request = RunRequest {
            run_id: "run".to_owned(),
            session: None,
            lane: None,
            requested: Requested::from(&chain[0]),
            chain: chain.to_vec(),
            pin: None,
        };
        let (policy, snapshot) = (Arc::new(self.policy.clone()), Arc::new(self.snapshot.clone()));
        self.runs += 1;
        let holder = format!("run#{}", self.runs);
        let mut machine = Machine::new(request, policy, holder.clone(), snapshot, self.now).with_options(&options);
        let loses = script.next() % 8 == 0;
        let (mut calls, mut fates) = (Vec::new(), Vec::new());
        let (mut marks, mut waits, mut repairs, mut lost) = (0, 0, 0, 0);
        for _ in 0..machine.max_steps() {
            let event = match machine.next() {
                Step::Attempt(call) => {
                    calls.push((call.position - 1, call.profile.clone()));
                    let began = self.now;
                    self.pass(i64::from(script.next()) * 50);
                    let mut fate = Fate::of(script);
                    if let Some(deadline) = machine.deadline().filter(|deadline| *deadline <= self.now) {
                        assert!(began < deadline, "a call began when the time was over");
                        (self.now, fate) = (deadline, Fate::OutOfTime);
                    }
                    fates.push(fate);
                    event(fate)
                }
                Step::Commit(change) if loses && script.next() % 2 == 0 => {
                    lost += 1;
                    drop(change);
                    Event::CommitFailed(Arc::new(self.snapshot.clone()))
                }
                Step::Commit(change) => {
                    let marked = matches!(change, UsageChange::Failure { .. });
                    marks += usize::from(marked);
                    if marked {
                        let last = fates.last().expect("a mark is about a call");
                        let blameless = matches!(last, Fate::Aborted | Fate::OutOfTime | Fate::Overflow | Fate::Useless(_));
                        assert!(!blameless, "a mark for {last:?}");
                    }
                    let applied = self.snapshot.apply(&change, self.now, &self.policy.auth.cooldowns);
                    Event::Committed(Arc::new(self.snapshot.clone()), applied)
                }
                Step::Finish(outcome) => {
                    let limits = options.limits;
                    return Played {
                        outcome: *outcome,
                        holder,
                        calls,
                        fates,
                        attempts: limits.attempts.map(usize::from),
                        has_deadline: limits.duration.is_some(),
                        marks,
                        waits,
                        repairs,
                        lost,
                    };
                }
                Step::Repair(..) if fates.last() == Some(&Fate::Repairable) => {
                    repairs += 1;
                    Event::Repaired(Repair::Done)
                }
                Step::Repair(..) => Event::Repaired(Repair::None),
                Step::Sleep(wait) => {
                    waits += 1;
                    assert!(wait <= Duration::from_hours(1), "a wait of {wait:?}");
                    self.pass(i64::try_from(wait.as_millis()).expect("a short wait"));
                    Event::Done
                }
                step @ (Step::LookForSwitch(..)
                | Step::MarkPrimaryProbe
                | Step::NoteAuthFailure(..)
                | Step::Persist(_)
                | Step::RollBack(_)) => panic!("a stateless run asked for {step:?}"),
            };
            machine.on(event, self.now);
        }
        panic!("the run did not end within its bound");
    }
}

fn event(fate: Fate) -> Event {
    let status = |status| Failure { status: Some(status), ..Failure::default() };
    let transport = |fault| Failure { transport: Some(fault), ..Failure::default() };
    let failed = |failure| Event::Failed(Box::new(failure), Progress::Clean);
    match fate {
        Fate::Aborted => failed(transport(Transport::Aborted(AbortedBy::Caller))),
        Fate::Answer => Event::Succeeded,
        Fate::OutOfTime => Event::OutOfTime,
        Fate::Overflow => failed(Failure { code: Some("context_length_exceeded".to_owned()), ..status(400) }),
        Fate::Refused => failed(transport(Transport::Refused)),
        Fate::Repairable => failed(status(400)),
        Fate::Seen(code) => Event::Failed(Box::new(status(code)), Progress::Visible),
        Fate::SilentRoute => failed(transport(Transport::Timeout(TimeoutPhase::FirstByte, TimerOwner::Us))),
        Fate::Status(code) => failed(status(code)),
        Fate::Stated(code, seconds) => failed(Failure {
            headers: vec![Header { name: "retry-after".to_owned(), value: seconds.to_string() }],
            ..status(code)
        }),
        Fate::Useless(preserve) => Event::Rejected(
            Box::new(Rejection { failure: Failure::default(), kind: RejectionKind::Useless, preserve }),
            Progress::Clean,
        ),
    }
}
