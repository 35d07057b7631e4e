//! Outages and limits over time, as requests meet them; everything goes through the public surface.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;

use jiff::Timestamp;
use openclaw_classify::{HintSource, Reason, ResetHint};
use openclaw_cooldown::{
    CooldownConfig, EndpointWindow, FailureEvent, Gate, GateFacts, Lane, MarkScope, Position, ProbeSlot,
    ProfileUsage, SuccessEvent, codex_reset, gate, record_endpoint_failure, record_failure, record_success,
};
use openclaw_ids::{ModelId, ProviderId};
use serde_json::json;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// `seconds` after a fixed start.
fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_750_000_000 + seconds).unwrap()
}

fn after_start(at: Timestamp) -> i64 {
    at.as_second() - 1_750_000_000
}

fn model(id: &str) -> ModelId {
    id.parse().unwrap()
}

/// What an upstream does with an attempt.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Answer {
    Fails(Reason),
    /// An account-wide limit that ends at this second.
    Limited(i64),
    Refused,
    Serves,
}

/// A chain of `provider/model` candidates, one profile and one endpoint each, and what is remembered between requests.
struct Chain {
    candidates: &'static [(&'static str, &'static str)],
    usages: BTreeMap<&'static str, ProfileUsage>,
    endpoints: BTreeMap<&'static str, EndpointWindow>,
    probes: BTreeMap<&'static str, Timestamp>,
}

impl Chain {
    fn new(candidates: &'static [(&'static str, &'static str)]) -> Self {
        Self {
            candidates,
            usages: BTreeMap::new(),
            endpoints: BTreeMap::new(),
            probes: BTreeMap::new(),
        }
    }

    /// Whether, and how, a candidate may be attempted now.
    fn ask(&self, index: usize, now: Timestamp) -> Gate {
        let (provider, id) = self.candidates[index];
        let usage = self.usages.get(provider).cloned().unwrap_or_default();
        let facts = GateFacts {
            position: if index == 0 {
                Position::Primary
            } else {
                Position::Fallback
            },
            is_only_candidate: self.candidates.len() == 1,
            model: &model(id),
            profiles: &[&usage],
            endpoint: self.endpoints.get(provider),
            last_probe_at: self.probes.get(provider).copied(),
            has_earlier_sibling: self.candidates[..index]
                .iter()
                .any(|(earlier, _)| *earlier == provider),
            slot: ProbeSlot::Free,
        };
        gate(&facts, now)
    }

    /// One request: the candidates that were called, the last of which served if any did.
    fn request(&mut self, second: i64, upstream: &dyn Fn(&str, i64) -> Answer) -> Vec<&'static str> {
        let now = at(second);
        let mut called = Vec::new();
        for (index, (provider, id)) in self.candidates.iter().copied().enumerate() {
            match self.ask(index, now) {
                Gate::Open => {}
                Gate::Probe(_) => _ = self.probes.insert(provider, now),
                Gate::Skip(_) => continue,
            }
            called.push(id);
            let answer = upstream(id, second);
            self.note(provider, id, answer, now);
            if answer == Answer::Serves {
                break;
            }
        }
        called
    }

    fn note(&mut self, provider: &'static str, id: &str, answer: Answer, now: Timestamp) {
        let usage = self.usages.remove(provider).unwrap_or_default();
        let mut failure = FailureEvent {
            provider: ProviderId::try_new(provider).unwrap(),
            reason: Reason::RateLimit,
            scope: MarkScope::Model,
            model: Some(model(id)),
            hint: None,
            started_at: Some(now),
        };
        let config = CooldownConfig::default();
        let usage = match answer {
            Answer::Fails(reason) => {
                failure.reason = reason;
                record_failure(usage, &failure, now, &config)
            }
            Answer::Limited(end) => {
                failure.scope = MarkScope::Profile;
                failure.hint = Some(ResetHint {
                    at: at(end),
                    source: HintSource::Body,
                    credible: true,
                });
                record_failure(usage, &failure, now, &config)
            }
            Answer::Refused => {
                let known = self.endpoints.get(provider).copied();
                self.endpoints
                    .insert(provider, record_endpoint_failure(known, Some(now), now));
                usage
            }
            Answer::Serves => {
                self.endpoints.remove(provider);
                let success = SuccessEvent {
                    model: Some(model(id)),
                    started_at: Some(now),
                };
                record_success(usage, &success, now)
            }
        };
        self.usages.insert(provider, usage);
    }

    /// A request every four seconds until `end`: the seconds at which `watched` was called.
    fn calls(&mut self, watched: &str, end: i64, upstream: &dyn Fn(&str, i64) -> Answer) -> Vec<i64> {
        (0..=end / 4)
            .map(|step| step * 4)
            .filter(|second| self.request(*second, upstream).contains(&watched))
            .collect()
    }
}

const TWO: &[(&str, &str)] = &[("anthropic", "main"), ("openai", "spare")];
const ONE: &[(&str, &str)] = &[("anthropic", "main")];

/// `main` answers so before `end`, and everything else serves.
fn until(end: i64, answer: Answer) -> impl Fn(&str, i64) -> Answer {
    move |id, second| {
        if id == "main" && second < end {
            answer
        } else {
            Answer::Serves
        }
    }
}

/// The calls during the trouble, and the first one that served.
fn called(chain: &'static [(&'static str, &'static str)], end: i64, answer: Answer) -> (Vec<i64>, i64) {
    let calls = Chain::new(chain).calls("main", end + 2 * HOUR, &until(end, answer));
    let (during, after): (Vec<i64>, Vec<i64>) = calls.into_iter().partition(|second| *second < end);
    (during, after[0])
}

#[test]
fn bl_33_bl_42_a_short_and_a_long_outage() {
    for reason in [
        Reason::Overloaded,
        Reason::ServerError,
        Reason::Timeout,
        Reason::RateLimit,
    ] {
        let outage = |chain, end| called(chain, end, Answer::Fails(reason));
        // The window ends at 30 s and the next one at 92 s; that one is near, so 30 s after the failure it is probed.
        assert_eq!(outage(TWO, MINUTE), (vec![0, 32], 64), "{reason}");
        // From the third step on the probe waits until the end is two minutes away.
        assert_eq!(
            outage(TWO, 10 * MINUTE),
            (vec![0, 32, 64, 244, 424], 604),
            "{reason}"
        );
        // The only candidate is probed every 30 s, the first time at once.
        assert_eq!(outage(ONE, MINUTE), (vec![0, 4, 36], 68), "{reason}");
        let every_half_minute: Vec<i64> = [0].into_iter().chain((4..600).step_by(32)).collect();
        assert_eq!(outage(ONE, 10 * MINUTE), (every_half_minute, 612), "{reason}");
    }
}

#[test]
fn bl_42_many_sessions_share_one_probe() {
    let mut chain = Chain::new(TWO);
    let down = until(DAY, Answer::Fails(Reason::Overloaded));
    let mut calls = 0;
    for _session in 0..20 {
        calls += usize::from(chain.request(0, &down).contains(&"main"));
    }
    assert_eq!(calls, 1, "the first failure closes the gate for the others");
    for _session in 0..20 {
        calls += usize::from(chain.request(29, &down).contains(&"main"));
    }
    assert_eq!(calls, 1);
    for _session in 0..20 {
        calls += usize::from(chain.request(64, &down).contains(&"main"));
    }
    assert_eq!(calls, 2, "one probe per interval");
}

#[test]
fn d4_a_refused_endpoint_rests_and_marks_no_profile() {
    assert_eq!(called(TWO, MINUTE, Answer::Refused), (vec![0, 32], 64));
    assert_eq!(called(ONE, MINUTE, Answer::Refused), (vec![0, 4, 36, 40], 72));
    let mut chain = Chain::new(TWO);
    chain.request(0, &until(MINUTE, Answer::Refused));
    assert_eq!(chain.usages["anthropic"], ProfileUsage::default());
}

#[test]
fn g6_a_bill_that_is_paid_after_an_hour() {
    let bill = |chain| called(chain, HOUR, Answer::Fails(Reason::Billing));
    // Probed after half an hour; the second window is ten hours long, and a tenth of it is the next wait.
    assert_eq!(bill(TWO), (vec![0, HOUR / 2], HOUR / 2 + HOUR));
    let every_five_minutes: Vec<i64> = (0..12).map(|step| step * 5 * MINUTE).collect();
    assert_eq!(bill(ONE), (every_five_minutes, HOUR));
}

#[test]
fn d7_a_five_hour_limit_next_to_a_week_that_is_not_used_up() {
    let window =
        |percent: i64, reset: i64| json!({"usedPercent": percent, "resetsAt": at(reset).as_second()});
    let report = json!({"rateLimits": {"primary": window(100, 5 * HOUR), "secondary": window(40, 7 * DAY)}});
    let end = after_start(codex_reset(&report, at(0)).unwrap());
    assert_eq!(end, 5 * HOUR);
    // The stated end is checked every half hour, and over when it said so.
    let checkpoints: Vec<i64> = (0..10).map(|step| step * HOUR / 2).collect();
    for chain in [TWO, ONE] {
        assert_eq!(
            called(chain, end, Answer::Limited(end)),
            (checkpoints.clone(), end)
        );
    }
    // It came back early: the next checkpoint finds out.
    let early = |id: &str, second: i64| match id {
        "main" if second < HOUR => Answer::Limited(end),
        _ => Answer::Serves,
    };
    let calls = Chain::new(TWO).calls("main", HOUR + 8, &early);
    assert_eq!(calls, [0, HOUR / 2, HOUR, HOUR + 4, HOUR + 8]);
}

#[test]
fn bl_38_a_reset_in_eighteen_days_is_not_waited_for_blindly() {
    let early = |id: &str, second: i64| match id {
        "main" if second < HOUR => Answer::Limited(18 * DAY),
        _ => Answer::Serves,
    };
    for chain in [TWO, ONE] {
        let calls = Chain::new(chain).calls("main", 2 * DAY, &early);
        let tenth = 18 * DAY / 10;
        assert_eq!(
            calls[..2],
            [0, tenth],
            "a tenth of the stated window later it is back"
        );
    }
}

#[test]
fn d4_d5_two_models_of_one_profile_limited_in_turn() {
    let mut chain = Chain::new(&[("anthropic", "main"), ("anthropic", "small")]);
    let upstream = |id: &str, second: i64| match (id, second) {
        ("main", ..8) | ("small", 8..20) => Answer::Fails(Reason::RateLimit),
        _ => Answer::Serves,
    };
    assert_eq!(chain.request(0, &upstream), ["main", "small"]);
    assert_eq!(chain.request(4, &upstream), ["small"], "the other model is free");
    assert_eq!(chain.request(8, &upstream), ["small"], "and limited in turn");
    assert_eq!(chain.request(12, &upstream), [""; 0]);
    assert_eq!(chain.request(30, &upstream), ["main"], "free at its end");
    let usage = &chain.usages["anthropic"];
    assert_eq!(
        usage.windows.keys().collect::<Vec<_>>(),
        [&Lane::Model(model("small"))],
        "D10: its success says nothing about the other model"
    );
    assert_eq!(
        usage.windows[&Lane::Model(model("small"))].steps,
        1,
        "D5: a ladder of its own"
    );
}

/// A profile that lives through attempts that overlap.
struct Profile(ProfileUsage);

impl Profile {
    /// A failure of `main` at `ended`, of an attempt that began at `started`.
    fn fails(&mut self, reason: Reason, started: i64, ended: i64) {
        let event = FailureEvent {
            provider: "anthropic".parse().unwrap(),
            reason,
            scope: MarkScope::Model,
            model: Some(model("main")),
            hint: None,
            started_at: Some(at(started)),
        };
        self.0 = record_failure(
            std::mem::take(&mut self.0),
            &event,
            at(ended),
            &CooldownConfig::default(),
        );
    }

    fn succeeds(&mut self, started: i64, ended: i64) {
        let event = SuccessEvent {
            model: Some(model("main")),
            started_at: Some(at(started)),
        };
        self.0 = record_success(std::mem::take(&mut self.0), &event, at(ended));
    }

    /// End, step and failures, as far as `main` is concerned.
    fn window(&self) -> Option<(i64, u32, u64)> {
        let window = self.0.windows.get(&Lane::Model(model("main")))?;
        let failures = self.0.failure_counts.values().sum();
        Some((after_start(window.until), window.steps, failures))
    }
}

#[test]
fn d2_ten_parallel_limits_and_one_late_success() {
    let mut profile = Profile(ProfileUsage::default());
    for ended in 10..20 {
        profile.fails(Reason::RateLimit, 0, ended);
    }
    assert_eq!(
        profile.window(),
        Some((40, 1, 10)),
        "one step, whatever was in flight"
    );
    profile.succeeds(5, 20);
    assert_eq!(
        profile.window(),
        Some((40, 1, 10)),
        "it began before the limit and disproves nothing"
    );
    assert_eq!(profile.0.last_used, None);
    profile.succeeds(41, 42);
    assert_eq!(profile.window(), None);
    assert_eq!(profile.0.last_used, Some(at(42)));
}

#[test]
fn d2_a_straggler_that_times_out_after_the_window_ended() {
    let mut profile = Profile(ProfileUsage::default());
    profile.fails(Reason::Timeout, -60, 0);
    assert_eq!(profile.window(), Some((30, 1, 1)));
    profile.fails(Reason::Timeout, -1, 59);
    assert_eq!(profile.window(), Some((30, 1, 2)), "counted, and nothing else");
    assert!(profile.0.is_usable(Some(&model("main")), at(59)));
    profile.fails(Reason::Timeout, 60, 61);
    assert_eq!(
        profile.window(),
        Some((121, 2, 3)),
        "the next episode is the next step"
    );
}
