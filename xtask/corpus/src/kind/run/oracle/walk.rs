//! One run, candidate by candidate.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value, json};

use super::gate::{CandidatePosition, Case, Gate, SkipCause};
use super::meaning::{Ending, Fault, meaning};
use super::record::shown;
use super::state::State;
use super::{Process, text};
use crate::kind::CLI;

/// A candidate that failed or was skipped.
#[derive(Debug, Clone)]
pub(super) struct FailedCandidate {
    pub(super) at: usize,
    pub(super) error: String,
    /// What may be shown of the error.
    pub(super) fields: Map<String, Value>,
    pub(super) reason: Option<String>,
    pub(super) status: Option<u64>,
    pub(super) code: Option<String>,
    pub(super) mode: Option<String>,
}

/// The run so far.
pub(super) struct Walk<'w, 'i> {
    pub(super) process: &'w mut Process<'i>,
    pub(super) run: &'w Value,
    pub(super) chain: Vec<String>,
    /// What is known to rest, as of the run's start or of the last mark.
    pub(super) known: Option<State<'i>>,
    script: HashMap<String, Vec<Value>>,
    pub(super) left: Vec<FailedCandidate>,
    /// The candidate that failed last, how, and the outcome of its attempt.
    pub(super) last: Option<(usize, Fault, Value)>,
    pub(super) kept: Option<(i64, usize)>,
    pub(super) answered: Vec<(usize, Value)>,
    pub(super) calls: Vec<Value>,
    pub(super) steps: Vec<Value>,
    pub(super) decisions: Vec<Value>,
    pub(super) errors: Vec<Value>,
    failovers: Vec<Value>,
    pub(super) slots: BTreeSet<String>,
    asked: BTreeSet<String>,
    resting: Vec<(Option<i64>, usize)>,
    aborted: bool,
    pub(super) redirects: usize,
    pub(super) strict: Option<usize>,
    /// Nothing follows the candidate at hand.
    pub(super) over: bool,
    /// A failure that every model would repeat ends the run.
    pub(super) surfaced: bool,
}

/// Where the walk goes.
pub(super) enum Next {
    Done(Value),
    To(usize),
}

impl<'w, 'i> Walk<'w, 'i> {
    pub(super) fn new(process: &'w mut Process<'i>, run: &'w Value, chain: Vec<String>) -> Self {
        let aware = !process.input["config"].is_null()
            && !process.input["store"].is_null()
            && run["skipAuthProfileRuntime"] != true;
        let scripted = run["script"].as_object().into_iter().flatten();
        let script =
            scripted.map(|(model, list)| (model.clone(), list.as_array().cloned().unwrap_or_default()));
        Self {
            known: aware.then(|| process.state.clone()),
            process,
            run,
            chain,
            script: script.collect(),
            left: Vec::new(),
            last: None,
            kept: None,
            answered: Vec::new(),
            calls: Vec::new(),
            steps: Vec::new(),
            decisions: Vec::new(),
            errors: Vec::new(),
            failovers: Vec::new(),
            slots: BTreeSet::new(),
            asked: BTreeSet::new(),
            resting: Vec::new(),
            aborted: !run["abortedBefore"].is_null(),
            redirects: 0,
            strict: None,
            over: false,
            surfaced: false,
        }
    }

    pub(super) fn answer(mut self) -> Value {
        let outcome = self.walk();
        json!({
            "calls": self.calls,
            "outcome": outcome,
            "steps": self.steps,
            "decisions": self.decisions,
            "onError": self.errors,
            "failoverEvents": self.failovers,
            "endMs": self.process.now,
        })
    }

    fn walk(&mut self) -> Value {
        let mut at = 0;
        while at < self.chain.len() && self.strict.is_none_or(|strict| strict == at) {
            match self.enter(at) {
                Next::Done(outcome) => return outcome,
                Next::To(next) => at = next,
            }
        }
        if let Some(at) = self.last_resort() {
            self.over = true;
            let reason = self
                .left
                .iter()
                .find(|left| left.at == at)
                .and_then(|left| left.reason.clone());
            if let Next::Done(outcome) = self.probe(at, &reason.unwrap_or_default(), true) {
                return outcome;
            }
        }
        self.end()
    }

    /// G3.
    fn last_resort(&self) -> Option<usize> {
        if !self.on("G3") || self.strict.is_some() {
            return None;
        }
        let idle = self
            .resting
            .iter()
            .filter(|(_, at)| !self.asked.contains(self.provider(*at)));
        idle.min_by_key(|(soonest, at)| (soonest.unwrap_or(i64::MAX), *at))
            .map(|(_, at)| *at)
    }

    fn enter(&mut self, at: usize) -> Next {
        let session = text(&self.run["sessionId"]);
        if let Some((reason, expires)) = self.process.refused.get(&(session, self.chain[at].clone()))
            && at > 0
            && self.process.now < *expires
        {
            let login = format!(
                "openclaw models auth login --provider '{}' --force",
                self.provider(at)
            );
            let error = format!(
                "Skipping {}: recent {reason} failure in this session (run `{login}` to re-authenticate)",
                self.chain[at]
            );
            let reason = reason.clone();
            self.skip(at, &error, &reason, None);
            return Next::To(at + 1);
        }
        let provider = self.provider(at).to_owned();
        let Some(known) = self.known.as_ref().filter(|_| !CLI.contains(&provider.as_str())) else {
            return self.attempt(at, None);
        };
        let ids = known.profiles(&provider);
        let (model, now) = (self.model(at).to_owned(), self.process.now);
        let seen: Vec<_> = ids.iter().map(|id| known.seen(id, &model, now)).collect();
        if seen.is_empty() || seen.iter().any(|seen| seen.free) {
            return self.attempt(at, None);
        }
        let soonest = known.soonest(&ids, &model, now);
        let gate = Case {
            on: self.process.on,
            now,
            place: match (at, self.chain.len()) {
                (0, 1) => CandidatePosition::Alone,
                (0, _) => CandidatePosition::First,
                _ => CandidatePosition::Later,
            },
            sibling: (0..at).any(|earlier| self.provider(earlier) == provider),
            slot_used: self.slots.contains(&provider),
            probed: self.process.probed.get(&provider).copied(),
            seen: &seen,
            soonest,
        }
        .gate();
        match gate {
            Gate::Probe { reason, takes_slot } => self.probe(at, &reason, takes_slot),
            Gate::Skip {
                reason,
                why,
                last_resort,
            } => {
                if last_resort {
                    self.resting.push((soonest, at));
                }
                let error = match why {
                    SkipCause::Auth => {
                        format!("Provider {provider} has {reason} issue (skipping all models)")
                    }
                    SkipCause::Cooldown => format!("Provider {provider} is in cooldown (suspending lanes)"),
                    SkipCause::Slot => {
                        format!("Provider {provider} is in cooldown (probe already attempted this run)")
                    }
                };
                self.skip(at, &error, &reason, Some(ids.len()));
                if why == SkipCause::Cooldown && self.run["sessionId"].is_string() {
                    let mut event = self.place();
                    event.insert("fromProvider".to_owned(), provider.into());
                    event.insert("fromModel".to_owned(), model.into());
                    event.insert("reason".to_owned(), reason.into());
                    event.insert("suspended".to_owned(), (at + 1 == self.chain.len()).into());
                    self.failovers.push(event.into());
                }
                Next::To(at + 1)
            }
        }
    }

    fn skip(&mut self, at: usize, error: &str, reason: &str, profiles: Option<usize>) {
        let provider = self.provider(at).to_owned();
        let stored = self.process.input["store"]["profiles"]
            .as_object()
            .into_iter()
            .flatten();
        let mut modes = stored
            .filter(|(_, profile)| text(&profile["provider"]) == provider)
            .map(|(_, profile)| text(&profile["type"]));
        let left = FailedCandidate {
            at,
            error: error.to_owned(),
            fields: shown(error, error, false),
            reason: Some(reason.to_owned()),
            status: None,
            code: None,
            mode: modes.find(|mode| {
                reason == "billing" && profiles.is_some() && ["oauth", "token"].contains(&mode.as_str())
            }),
        };
        self.note("skip_candidate", &left, left.reason.as_deref(), profiles);
        self.put(left);
    }

    fn probe(&mut self, at: usize, reason: &str, takes_slot: bool) -> Next {
        let provider = self.provider(at).to_owned();
        if at == 0 || self.on("G4") {
            self.process.probed.insert(provider.clone(), self.process.now);
        }
        if self.on("G4") {
            self.known = self.known.take().map(|_| self.process.state.clone());
        }
        let flag = !["format", "model_not_found"].contains(&reason);
        let mut record = self.record("probe_cooldown_candidate", at);
        record.insert("reason".to_owned(), reason.into());
        if flag {
            record.insert("allowTransientCooldownProbe".to_owned(), true.into());
        }
        let count = self.process.state.profiles(&provider).len();
        record.insert("profileCount".to_owned(), count.into());
        self.decisions.push(record.into());
        self.attempt(at, Some((flag, takes_slot)))
    }

    fn attempt(&mut self, at: usize, probe: Option<(bool, bool)>) -> Next {
        let mut options = json!({ "isFinalFallbackAttempt": at + 1 == self.chain.len() || self.over });
        if probe.is_some_and(|(flag, _)| flag) {
            options["allowTransientCooldownProbe"] = true.into();
        }
        let (provider, model) = (self.provider(at).to_owned(), self.model(at).to_owned());
        self.calls
            .push(json!({ "provider": provider, "model": model, "options": options }));
        self.asked.insert(provider.clone());
        let list = self
            .script
            .get_mut(&self.chain[at])
            .filter(|list| !list.is_empty());
        let outcome = list.map_or_else(|| json!({ "result": "ok" }), |list| list.remove(0));
        for event in outcome["effects"].as_array().into_iter().flatten() {
            if event["op"] == "abort" {
                self.aborted = true;
            } else {
                self.process.apply(event);
            }
        }
        if !outcome["result"].is_null() {
            self.answered.push((at, outcome["result"].clone()));
        }
        match meaning(
            &outcome,
            &provider,
            self.aborted,
            self.process.now,
            self.process.on,
        ) {
            Ending::Answer => Next::Done(self.succeed(at, &outcome["result"], probe.is_some())),
            Ending::Failed(fault) => self.fail(at, fault, &outcome, probe),
            Ending::Stopped => Next::Done(self.stopped(at, &outcome)),
            Ending::Switched(target, fault) => self.switch(at, &target, fault, &outcome, probe),
        }
    }

    pub(super) fn put(&mut self, left: FailedCandidate) {
        self.left.retain(|known| known.at != left.at);
        self.left.push(left);
        self.left.sort_by_key(|left| left.at);
    }

    pub(super) fn on(&self, decision: &str) -> bool {
        self.process.on.holds(decision)
    }

    pub(super) fn provider(&self, at: usize) -> &str {
        self.chain[at]
            .split_once('/')
            .map_or("", |(provider, _)| provider)
    }

    pub(super) fn model(&self, at: usize) -> &str {
        self.chain[at].split_once('/').map_or("", |(_, model)| model)
    }

    /// When the first of the chain's candidates is back; none when nothing is known of rests.
    pub(super) fn soonest(&self) -> Option<i64> {
        self.known.as_ref()?;
        let state = &self.process.state;
        let ends = (0..self.chain.len()).filter_map(|at| {
            let ids = state.profiles(self.provider(at));
            state.soonest(&ids, self.model(at), self.process.now)
        });
        ends.min()
    }
}
