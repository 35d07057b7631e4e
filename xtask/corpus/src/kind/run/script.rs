//! The scripted attempts of one run.

use std::collections::HashMap;

use openclaw_classify::{AbortedBy, Failure, Transport};
use openclaw_ids::{ModelRef, ProfileId};
use openclaw_runner::{AttemptCall, Rejection, RejectionKind};
use openclaw_session::{PinSource, ProfilePin, RunSelection};
use serde_json::{Value, json};

use crate::kind::classify::facts;

/// What the machine is told of an attempt.
pub(super) enum ScriptedOutcome {
    Answer,
    Failure(Failure),
    Rejected(Rejection),
}

/// The outcomes that are left, and the one that was played last.
pub(super) struct Script {
    outcomes: HashMap<String, Vec<Value>>,
    aborted: bool,
    at: usize,
    asked: Option<ModelRef>,
    latest: Value,
    played: ScriptedOutcome,
    /// Every answer with the position that gave it, the last one last.
    answers: Vec<(usize, Value)>,
    pub(super) merges: bool,
}

impl Script {
    pub(super) fn new(run: &Value) -> Self {
        let scripted = run["script"].as_object().into_iter().flatten();
        Self {
            outcomes: scripted
                .map(|(model, list)| (model.clone(), list.as_array().cloned().unwrap_or_default()))
                .collect(),
            aborted: !run["abortedBefore"].is_null(),
            at: 0,
            asked: None,
            latest: Value::Null,
            played: ScriptedOutcome::Answer,
            answers: Vec::new(),
            merges: run["mergeExhausted"] == true,
        }
    }

    /// Whether `call` is one more try of the candidate that failed last.
    pub(super) fn repeats(&self, call: &AttemptCall) -> bool {
        call.position == self.at
    }

    /// Takes the next outcome of the candidate and returns what happens beside it.
    pub(super) fn play(&mut self, call: &AttemptCall) -> Vec<Value> {
        self.at = call.position;
        self.asked = Some(call.candidate.clone());
        let list = self
            .outcomes
            .get_mut(&spelled(&call.candidate))
            .filter(|list| !list.is_empty());
        self.latest = list.map_or_else(|| json!({"result": "ok"}), |list| list.remove(0));
        let effects = self.latest["effects"].as_array().cloned().unwrap_or_default();
        if effects.iter().any(|event| event["op"] == "abort") {
            self.aborted = true;
        }
        self.played = self.judge(call);
        effects
    }

    pub(super) fn abort(&mut self) {
        self.aborted = true;
    }

    pub(super) fn played(&self) -> &ScriptedOutcome {
        &self.played
    }

    /// What the last attempt threw, or what its result was judged to be; none when it returned.
    pub(super) fn thrown(&self) -> Option<&Value> {
        self.latest
            .get("throw")
            .or_else(|| self.latest["classify"].get("error"))
    }

    /// Whether the last attempt returned a result that was found wanting.
    pub(super) fn is_rejected(&self) -> bool {
        !self.latest["classify"].is_null()
    }

    /// The candidate whose last result was found wanting, and what was said of it.
    pub(super) fn rejected(&self) -> Option<(&ModelRef, &Value)> {
        let said = Some(&self.latest["classify"]).filter(|said| !said.is_null());
        self.asked.as_ref().zip(said)
    }

    /// The answer of the candidate at `position`.
    pub(super) fn answer(&self, position: usize) -> Value {
        let found = self.answers.iter().rev().find(|(at, _)| *at == position);
        found.map_or(Value::Null, |(_, answer)| answer.clone())
    }

    /// The model that a person switched to during the last attempt.
    pub(super) fn switch(&self) -> Option<RunSelection> {
        let error = self.latest.get("throw").filter(|error| is_switch(error))?;
        let profile: Option<ProfileId> = error["authProfileId"].as_str().and_then(|id| id.parse().ok());
        Some(RunSelection {
            model: switched_to(error).parse().ok()?,
            runtime: error["agentRuntimeOverride"].as_str().map(str::to_owned),
            profile: profile.map(|profile| ProfilePin {
                profile,
                source: PinSource::User,
            }),
        })
    }

    fn judge(&mut self, call: &AttemptCall) -> ScriptedOutcome {
        let provider = json!(call.candidate.provider());
        let Some(error) = self.latest.get("throw") else {
            self.answers.push((call.position, self.latest["result"].clone()));
            return match &self.latest["classify"] {
                Value::Null => ScriptedOutcome::Answer,
                _ if self.aborted => ScriptedOutcome::Failure(stopped(AbortedBy::Caller)),
                said => ScriptedOutcome::Rejected(rejection(said, &provider)),
            };
        };
        let by = stopped_by(error).or(self.aborted.then_some(AbortedBy::Caller));
        if let Some(by) = by {
            return ScriptedOutcome::Failure(stopped(by));
        }
        if is_classified(error)
            && ["unclassified", "unknown"]
                .iter()
                .any(|reason| error["reason"] == *reason)
        {
            // The script states a reason, which is more than that no rule recognised it.
            return ScriptedOutcome::Rejected(Rejection {
                failure: failure(error, &provider),
                kind: RejectionKind::Failure,
                preserve: None,
            });
        }
        ScriptedOutcome::Failure(failure(error, &provider))
    }
}

fn stopped(by: AbortedBy) -> Failure {
    Failure {
        transport: Some(Transport::Aborted(by)),
        ..Failure::default()
    }
}

/// What the host throws about its own machinery; no provider has a part in it.
const HOST: [&str; 3] = [
    "CommandLaneTaskTimeoutError",
    "MissingAgentHarnessError",
    "TranscriptNotContinuableError",
];

/// Who ended the attempt, as far as the thrown value says so outright (A3): its code, that our own abort made it, or
/// that it is the host's.
pub(super) fn stopped_by(error: &Value) -> Option<AbortedBy> {
    if HOST
        .iter()
        .any(|host| error["$type"] == *host || error["name"] == *host)
    {
        return Some(AbortedBy::Us);
    }
    let causes = || std::iter::successors(Some(error), |level| level.get("cause")).take(3);
    if error["code"] == "OPENCLAW_DIRECT_ABORT" {
        return Some(AbortedBy::Caller);
    }
    if error["code"] == "OPENCLAW_RESTART_ABORT"
        || error["name"] == "AbortError" && causes().any(|level| level["code"] == "OPENCLAW_RESTART_ABORT")
    {
        return Some(AbortedBy::Us);
    }
    let cause = &error["cause"];
    let ours = error["$abortableWrapper"] == true;
    let limit = ["ClientDisconnectError", "TimeoutError"]
        .iter()
        .any(|name| cause["name"] == **name);
    let text = cause["message"].as_str().or(cause.as_str()).unwrap_or_default();
    let job = CRON_LIMITS
        .iter()
        .any(|limit| text == *limit || text.strip_prefix(limit).is_some_and(|rest| rest.starts_with(' ')));
    (ours && (limit || job)).then_some(AbortedBy::Caller)
}

/// What a job's own limits say.
const CRON_LIMITS: [&str; 3] = [
    "cron: job execution timed out",
    "cron: isolated agent setup timed out before runner start",
    "cron: isolated agent run stalled before execution start",
];

/// Whether a thrown value was classified before.
pub(super) fn is_classified(error: &Value) -> bool {
    error["$type"] == "FailoverError"
}

fn is_switch(error: &Value) -> bool {
    error["$type"] == "LiveSessionModelSwitchError"
}

fn switched_to(error: &Value) -> String {
    let part = |member: &str| error[member].as_str().unwrap_or_default().to_owned();
    format!("{}/{}", part("provider"), part("model"))
}

/// A thrown value as an attempt of ours would report it.
pub(super) fn failure(error: &Value, provider: &Value) -> Failure {
    if is_switch(error) {
        return Failure {
            message: Some(format!(
                "Live session model switch requested: {}",
                switched_to(error)
            )),
            ..Failure::default()
        };
    }
    let mut failure = facts::thrown(error, provider);
    if !error.is_object() {
        failure.message = Some(error.as_str().map_or_else(|| error.to_string(), str::to_owned));
    } else if error["message"] == "" {
        // An error without words is shown by its name.
        failure.message = Some("Error".to_owned());
    }
    if is_classified(error) {
        // The reason is known already; the words are what people see.
        let text = error["rawError"].as_str().or(error["message"].as_str());
        failure.message = text.map(str::to_owned);
        (failure.kind, failure.code) = (failure.code, error["code"].as_str().map(str::to_owned));
    }
    failure
}

/// A result that its caller found wanting, with the reason that the caller gave.
pub(super) fn rejection(said: &Value, provider: &Value) -> Rejection {
    let preserve = said["preserveResultOnExhaustion"] == true;
    let priority = said["preserveResultPriority"].as_i64().unwrap_or_default();
    let failure = match &said["error"] {
        Value::Null => Failure {
            status: said["status"].as_u64().and_then(|status| status.try_into().ok()),
            // The reason is a label like a provider's own type.
            kind: said["reason"].as_str().map(str::to_owned),
            code: said["code"].as_str().map(str::to_owned),
            message: said["rawError"]
                .as_str()
                .or(said["message"].as_str())
                .map(str::to_owned),
            ..Failure::default()
        },
        error => self::failure(error, provider),
    };
    Rejection {
        failure,
        kind: if said["reason"] == "empty_response" {
            RejectionKind::Useless
        } else {
            RejectionKind::Failure
        },
        preserve: preserve.then(|| i32::try_from(priority).unwrap_or_default()),
    }
}

/// A candidate as the scripts spell it: provider and model, also where the model begins with the provider.
pub(super) fn spelled(candidate: &ModelRef) -> String {
    format!("{}/{}", candidate.provider(), candidate.model())
}
