//! Attempts whose outcomes a scenario writes down.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use openclaw_classify::{AbortedBy, Failure, Header, Phase, TimeoutPhase, TimerOwner, Transport};
use openclaw_ids::SessionKey;
use openclaw_runner::{Attempt, AttemptCall, Judgement, Rejection, RejectionKind, Repair};
use openclaw_session::{MemorySessionStore, Progress, UserSelection, apply_user_selection};
use serde_json::Value;

use crate::scenario::{START, duration};

/// How a scripted attempt ended, from the caller's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Whole.
    Complete,
    /// Broken off after its first content.
    Cut,
    /// Of no use; kept for the end of the chain when it says with what priority.
    Useless(Option<i32>),
}

/// Outcomes per `provider/model` or `provider/model@profile`; an exhausted or absent list answers.
#[derive(Default)]
pub(crate) struct Script {
    outcomes: Mutex<HashMap<String, Vec<Value>>>,
    calls: Mutex<Vec<String>>,
    /// Where a person picks another model while an attempt runs.
    session: Option<(Arc<MemorySessionStore>, SessionKey)>,
    /// Whether the request of the latest attempt can be repaired.
    repairable: AtomicBool,
    /// Whether anything was shown or done by now.
    seen: AtomicBool,
}

impl Script {
    pub(crate) fn new(outcomes: HashMap<String, Vec<Value>>) -> Arc<Self> {
        Arc::new(Self {
            outcomes: Mutex::new(outcomes),
            ..Self::default()
        })
    }

    pub(crate) fn in_session(
        outcomes: HashMap<String, Vec<Value>>,
        sessions: &Arc<MemorySessionStore>,
        key: &SessionKey,
    ) -> Arc<Self> {
        Arc::new(Self {
            outcomes: Mutex::new(outcomes),
            session: Some((Arc::clone(sessions), key.clone())),
            ..Self::default()
        })
    }

    /// A person types `/model`.
    async fn pick(&self, model: &str, now: Timestamp) {
        let (sessions, key) = self.session.as_ref().unwrap();
        let picked = UserSelection::model(model.parse().unwrap(), None);
        let configured = "anthropic/claude-opus-4-8".parse().unwrap();
        let stored = openclaw_session::update(&**sessions, key, |entry| {
            (
                apply_user_selection(entry.unwrap(), &picked, &configured, now),
                (),
            )
        });
        stored.await.unwrap();
    }

    pub(crate) fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }

    /// What is left of the script: a scenario that expects more calls than were made is wrong.
    pub(crate) fn unused(&self) -> Vec<String> {
        let outcomes = self.outcomes.lock().unwrap();
        let mut unused: Vec<_> = outcomes
            .iter()
            .filter(|(_, left)| !left.is_empty())
            .map(|(key, _)| key.clone())
            .collect();
        unused.sort();
        unused
    }

    fn next(&self, call: &AttemptCall) -> Value {
        let model = call.candidate.key();
        let with_profile = call.profile.as_ref().map(|profile| format!("{model}@{profile}"));
        let mut outcomes = self.outcomes.lock().unwrap();
        let keys = with_profile.iter().chain([&model]);
        for key in keys {
            if let Some(list) = outcomes.get_mut(key).filter(|list| !list.is_empty()) {
                return list.remove(0);
            }
        }
        Value::from("ok")
    }
}

impl Attempt for Script {
    type Output = Answer;

    async fn attempt(&self, call: AttemptCall) -> Result<Answer, Failure> {
        let outcome = self.next(&call);
        let profile = call
            .profile
            .as_ref()
            .map_or("no profile", |profile| profile.as_str());
        let marks = [
            (call.allow_transient_cooldown_probe, " probe"),
            (call.is_final_fallback_attempt, " final"),
        ];
        let marks: String = marks
            .iter()
            .filter(|(set, _)| *set)
            .map(|(_, mark)| *mark)
            .collect();
        self.calls.lock().unwrap().push(format!(
            "{} @{profile}{marks} -> {}",
            call.candidate,
            shown(&outcome)
        ));
        self.repairable
            .store(outcome["repairable"] == true, Ordering::Relaxed);
        if outcome["seen"] == true {
            self.seen.store(true, Ordering::Relaxed);
        }
        if let Some(time) = outcome["takes"].as_str() {
            tokio::time::sleep(duration(time)).await;
        }
        if let Some(model) = outcome["userPicks"].as_str() {
            self.pick(model, Timestamp::from_second(START).unwrap()).await;
        }
        if outcome["useless"] == true {
            let preserve = outcome["preserve"].as_i64();
            return Ok(Answer::Useless(
                preserve.map(|priority| priority.try_into().unwrap()),
            ));
        }
        match outcome.as_str() {
            Some("ok") => Ok(Answer::Complete),
            Some("cut") => Ok(Answer::Cut),
            Some(text) => Err(failure(&call, Some(text), &Value::Null)),
            None => Err(failure(&call, None, &outcome)),
        }
    }

    fn classify_result(&self, output: &Answer, _call: &AttemptCall) -> Judgement {
        match output {
            Answer::Complete | Answer::Cut => Judgement::Accepted,
            Answer::Useless(preserve) => Judgement::Rejected(Rejection {
                failure: Failure {
                    code: Some("empty_result".to_owned()),
                    message: Some("the model returned no text".to_owned()),
                    ..Failure::default()
                },
                kind: RejectionKind::Useless,
                preserve: *preserve,
            }),
        }
    }

    fn progress(&self) -> Progress {
        if self.seen.load(Ordering::Relaxed) {
            Progress::Visible
        } else {
            Progress::Clean
        }
    }

    fn repair_format(&self, _call: &AttemptCall, _failure: &Failure) -> Repair {
        if self.repairable.load(Ordering::Relaxed) {
            Repair::Done
        } else {
            Repair::None
        }
    }
}

/// The failure of an answer that broke off.
pub(crate) fn cut() -> Failure {
    Failure {
        transport: Some(Transport::Reset),
        phase: Some(Phase::AfterContent),
        ..Failure::default()
    }
}

fn shown(outcome: &Value) -> String {
    match outcome {
        Value::String(text) => text.split_whitespace().next().unwrap_or_default().to_owned(),
        other if other["useless"] == true => "useless answer".to_owned(),
        other => {
            let facts = ["status", "code", "type", "transport"]
                .iter()
                .filter_map(|name| other.get(name));
            let picked = other["userPicks"]
                .as_str()
                .map(|model| format!("(a person picks {model})"));
            let facts = facts.map(|fact| fact.to_string().replace('"', ""));
            let seen = (other["seen"] == true).then(|| "(something was seen)".to_owned());
            let takes = other["takes"].as_str().map(|time| format!("after {time}"));
            let facts: Vec<String> = facts.chain(takes).chain(seen).chain(picked).collect();
            if facts.is_empty() {
                "error".to_owned()
            } else {
                facts.join(" ")
            }
        }
    }
}

/// `"429 Too many requests"`, or an object with any of the facts.
fn failure(call: &AttemptCall, text: Option<&str>, facts: &Value) -> Failure {
    let provider = Some(call.candidate.provider().clone());
    if let Some(text) = text {
        let status = text.get(..3).and_then(|digits| digits.parse().ok());
        let message = status.map_or(text, |_: u16| text[3..].trim());
        return Failure {
            provider,
            status,
            message: Some(message.to_owned()),
            ..Failure::default()
        };
    }
    let string = |name: &str| facts.get(name).and_then(Value::as_str).map(str::to_owned);
    let headers = facts
        .get("headers")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    Failure {
        provider,
        status: facts
            .get("status")
            .and_then(Value::as_u64)
            .map(|status| u16::try_from(status).unwrap()),
        code: string("code"),
        kind: string("type"),
        message: string("message"),
        body: string("body").map(String::into_bytes),
        headers: headers
            .map(|(name, value)| Header {
                name: name.clone(),
                value: value.as_str().unwrap().to_owned(),
            })
            .collect(),
        transport: string("transport").map(|name| transport(&name)),
        ..Failure::default()
    }
}

fn transport(name: &str) -> Transport {
    match name {
        "aborted" => Transport::Aborted(AbortedBy::Caller),
        "dns" => Transport::Dns,
        "first-byte-timeout" => Transport::Timeout(TimeoutPhase::FirstByte, TimerOwner::Us),
        "idle-timeout" => Transport::Timeout(TimeoutPhase::Idle, TimerOwner::Us),
        "refused" => Transport::Refused,
        "reset" => Transport::Reset,
        other => panic!("no transport fault is called {other:?}"),
    }
}
