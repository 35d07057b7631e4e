//! Whole runs: the machine over scripted attempts, with what a caller and a log reader would see of them.

mod oracle;
mod script;
mod view;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use openclaw_auth_store::{AuthConfig, AuthSnapshot, ChangeOutcome, UsageChange};
use openclaw_chain::{ChainConfig, Requested, Resolver};
use openclaw_cooldown::{CooldownConfig, ProfileUsage, UsageStats, adopt_usage_stats};
use openclaw_runner::machine::{Event, Machine, Step};
use openclaw_runner::{
    AttemptCall, Decision, LogAdmission, LogDedup, PersistPolicy, Repair, RunOptions, RunPolicy, RunRequest,
    RunSession, RunSettings, SkipCache, parse_skip_ttl,
};
use openclaw_session::{Progress, SessionEntry, TurnKind};
use serde_json::{Value, json};

use script::{Script, ScriptedOutcome};
use view::{Call, ObservedRun};

use super::values::{instant, profile};
use super::{CLI, Kind, OverrulePolicy, cooldown, recorded, refused, values};
use crate::row::Row;

pub(crate) const KIND: Kind = Kind {
    name: "run",
    answer,
    accepted: recorded,
    overruled: OverrulePolicy::ByReplay {
        decisions: oracle::DECISIONS,
        oracle: oracle::oracle,
    },
};

fn answer(row: &Row) -> Value {
    asked(row.input()).unwrap_or_else(|why| refused(&why))
}

fn asked(input: &Value) -> Result<Value, String> {
    let mut process = Process::read(input)?;
    let runs = input["runs"].as_array().into_iter().flatten();
    let answers: Result<Vec<_>, _> = runs.map(|run| process.run(run)).collect();
    Ok(json!({ "runs": answers? }))
}

/// What the runs of a row share.
struct Process {
    now: Timestamp,
    resolver: Resolver,
    /// Without a configuration nothing is known to rest.
    configured: bool,
    policy: Arc<RunPolicy>,
    snapshot: AuthSnapshot,
    skips: SkipCache,
    log: LogDedup,
}

impl Process {
    fn read(input: &Value) -> Result<Self, String> {
        let now = instant(&input["startMs"])?;
        let mut snapshot = AuthSnapshot {
            profiles: values::credentials(&input["store"]["profiles"])?.into(),
            ..AuthSnapshot::default()
        };
        for (id, stored) in input["store"]["usageStats"].as_object().into_iter().flatten() {
            let stats: UsageStats =
                serde_json::from_value(stored.clone()).map_err(|error| error.to_string())?;
            let usage = adopt_usage_stats(ProfileUsage::default(), &stats, now);
            snapshot.usage.insert(profile(id)?, usage);
        }
        let config = &input["config"];
        let auth: AuthConfig = serde_json::from_value(json!({
            "order": config["auth"]["order"].as_object().cloned().unwrap_or_default(),
            "profiles": config["auth"]["profiles"].as_object().cloned().unwrap_or_default(),
        }))
        .map_err(|error| error.to_string())?;
        let cooldowns = CooldownConfig::lenient(&config["auth"]["cooldowns"]);
        let ttl = input["env"]["OPENCLAW_FALLBACK_SKIP_TTL_MS"].as_str();
        Ok(Self {
            now,
            resolver: match config {
                Value::Null => Resolver::unconfigured(),
                config => Resolver::new(&ChainConfig::lenient(config)),
            },
            configured: !config.is_null(),
            policy: Arc::new(RunPolicy {
                auth: AuthConfig { cooldowns, ..auth },
                settings: RunSettings {
                    // Waits inside a candidate are the attempt's own business here.
                    inline_wait: Duration::ZERO,
                    auth_skip_ttl: parse_skip_ttl(ttl),
                    ..RunSettings::default()
                },
                ..RunPolicy::default()
            }),
            snapshot,
            skips: SkipCache::default(),
            log: LogDedup::default(),
        })
    }

    fn run(&mut self, run: &Value) -> Result<Value, String> {
        let passed = run["advanceMs"].as_i64().unwrap_or_default();
        self.now = instant(&self.now.as_millisecond().saturating_add(passed).into())?;
        for event in run["before"].as_array().into_iter().flatten() {
            self.effect(event)?;
        }
        let request = self.request(run)?;
        let mut script = Script::new(run);
        let mut seen = ObservedRun::new(run);
        let aware = self.configured && run["skipAuthProfileRuntime"] != true;
        let known = |snapshot: &AuthSnapshot| {
            Arc::new(if aware {
                snapshot.clone()
            } else {
                AuthSnapshot::default()
            })
        };
        let session = request.session.as_ref().map(|session| session.id.clone());
        let markers = session
            .as_ref()
            .map(|session| self.skips.markers(session, self.now));
        let mut machine = Machine::new(
            request,
            Arc::clone(&self.policy),
            run["runId"].as_str().unwrap_or_default().to_owned(),
            known(&self.snapshot),
            self.now,
        )
        .with_options(&RunOptions {
            own_auth: CLI.iter().filter_map(|id| id.parse().ok()).collect(),
            ..RunOptions::default()
        })
        .with_auth_skips(markers.unwrap_or_default());
        let mut emitted = 0;
        for _ in 0..machine.max_steps() {
            let step = machine.next();
            let events = machine.events_since(emitted);
            emitted += events.len();
            for event in events {
                if let openclaw_runner::RunEvent::Candidate(decision) = event {
                    self.note(&mut seen, decision, &script);
                }
            }
            let event = match step {
                Step::Attempt(call) => self.attempt(&call, &mut script, &mut seen)?,
                Step::Commit(change) => self.commit(&change, &known),
                Step::Finish(outcome) => return Ok(seen.finish(&outcome, &script, self.now)),
                Step::LookForSwitch(..) => Event::Switch(script.switch().map(Box::new)),
                Step::NoteAuthFailure(candidate, reason) => {
                    if let Some(session) = &session {
                        let ttl = self.policy.settings.auth_skip_ttl;
                        self.skips
                            .record(session.clone(), candidate, reason, ttl, self.now);
                    }
                    Event::Done
                }
                Step::Persist(_) => Event::Persisted(None),
                Step::Repair(..) => Event::Repaired(Repair::None),
                Step::MarkPrimaryProbe | Step::RollBack(_) | Step::Sleep(_) => Event::Done,
            };
            machine.on(event, self.now);
        }
        Err("the run did not end".to_owned())
    }

    fn request(&self, run: &Value) -> Result<RunRequest, String> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let requested = Requested {
            provider: text(&run["provider"]),
            model: text(&run["model"]),
        };
        let fallbacks: Option<Vec<String>> = run["fallbacksOverride"]
            .as_array()
            .map(|texts| texts.iter().map(text).collect());
        let session = match run["sessionId"].as_str() {
            None => None,
            Some(id) => {
                let id: openclaw_ids::SessionId = id.parse().map_err(|_| format!("{id} is no session"))?;
                Some(RunSession {
                    sticky: std::collections::BTreeMap::new(),
                    key: "agent:main:main"
                        .parse()
                        .map_err(|_| "no session key".to_owned())?,
                    read: SessionEntry::new(id.clone(), self.now).selection(),
                    id,
                    kind: TurnKind::StatePreserving,
                    persist: PersistPolicy::Never,
                    probe: None,
                })
            }
        };
        Ok(RunRequest {
            run_id: text(&run["runId"]),
            session,
            lane: run["lane"].as_str().map(str::to_owned),
            chain: self.resolver.chain(&requested, fallbacks.as_deref()),
            requested,
            pin: None,
        })
    }

    /// One attempt. The files know nothing of credentials inside a candidate: another one of them meets the same end.
    fn attempt(
        &mut self,
        call: &AttemptCall,
        script: &mut Script,
        seen: &mut ObservedRun,
    ) -> Result<Event, String> {
        if !script.repeats(call) {
            seen.calls.push(Call::of(call));
            let effects = script.play(call);
            for event in effects {
                if event["op"] == "abort" {
                    script.abort();
                } else {
                    self.effect(&event)?;
                }
            }
        }
        Ok(match script.played() {
            ScriptedOutcome::Answer => Event::Succeeded,
            ScriptedOutcome::Failure(failure) => Event::Failed(Box::new(failure.clone()), Progress::Clean),
            ScriptedOutcome::Rejected(rejection) => {
                Event::Rejected(Box::new(rejection.clone()), Progress::Clean)
            }
        })
    }

    /// Marks are written by the attempts of the files, so the machine's own stay unwritten; its probes are real.
    fn commit(&mut self, change: &UsageChange, known: &dyn Fn(&AuthSnapshot) -> Arc<AuthSnapshot>) -> Event {
        let applied = match change {
            UsageChange::ProbeEnd { .. }
            | UsageChange::ProbeRenew { .. }
            | UsageChange::ProbeStart { .. } => {
                self.snapshot.apply(change, self.now, &self.policy.auth.cooldowns)
            }
            UsageChange::Clear { .. }
            | UsageChange::EndpointFailure { .. }
            | UsageChange::EndpointSuccess { .. }
            | UsageChange::Failure { .. }
            | UsageChange::Success { .. }
            | UsageChange::ClearLane { .. }
            | UsageChange::StatedEnd { .. }
            | UsageChange::CoolDown { .. }
            | UsageChange::Used { .. } => ChangeOutcome::Unchanged,
        };
        Event::Committed(known(&self.snapshot), applied)
    }

    fn effect(&mut self, event: &Value) -> Result<(), String> {
        if event["op"] == "advance" {
            let ms = event["ms"].as_i64().unwrap_or_default();
            self.now = instant(&self.now.as_millisecond().saturating_add(ms).into())?;
            return Ok(());
        }
        let id = profile(event["profile"].as_str().unwrap_or_default())?;
        let own = self
            .snapshot
            .credential(&id)
            .map(|credential| credential.provider().clone());
        let op = event["op"].as_str().unwrap_or_default();
        if let Some(own) = own
            && let Some(change) = cooldown::change(op, event, id, own, self.now)?
        {
            self.snapshot
                .apply(&change, self.now, &self.policy.auth.cooldowns);
        }
        Ok(())
    }

    fn note(&mut self, seen: &mut ObservedRun, decision: &Decision, script: &Script) {
        match self.log.admit(decision, self.now) {
            LogAdmission::Suppress => seen.note(decision, None, script),
            LogAdmission::Write { suppressed } => seen.note(
                decision,
                Some(Decision {
                    suppressed_duplicate_count: suppressed,
                    ..decision.clone()
                }),
                script,
            ),
        }
    }
}

#[cfg(test)]
mod tests;
