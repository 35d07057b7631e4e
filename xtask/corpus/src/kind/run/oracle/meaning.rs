//! What the outcome of a scripted attempt means to a run.

use jiff::Timestamp;
use openclaw_classify::{Certainty, Failure, Reason, classify};
use openclaw_runner::RejectionKind;
use serde_json::{Value, json};

use super::super::script;
use super::text;
use crate::kind::Switches;

/// What came of an attempt.
pub(super) enum Ending {
    Answer,
    Failed(Fault),
    /// The caller or the host ended it.
    Stopped,
    /// A person chose this model meanwhile; the fault is for those who take it for one.
    Switched(String, Fault),
}

/// A failure as the run sees it.
#[derive(Debug, Clone)]
pub(super) struct Fault {
    /// None when no rule recognised it.
    pub(super) reason: Option<String>,
    pub(super) status: Option<u64>,
    pub(super) code: Option<String>,
    /// Its words, as they came.
    pub(super) raw: String,
    /// What an observer of errors is told.
    pub(super) told: Value,
    /// How it ends a run as its only failure.
    pub(super) form: Form,
    pub(super) kind: Kind,
    /// The thrown value is an object without words: it is shown as such.
    pub(super) wordless: bool,
}

/// What a fault may do to the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The next model may help.
    Advances,
    /// A payload that every model would refuse.
    Format,
    /// Every model would fail the same way.
    Surfaces,
}

/// How a fault is returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As a failover error made of it.
    Made,
    /// As a failover error without a cause: it was not thrown.
    Said,
    /// As it was thrown.
    Thrown,
}

/// The meaning of `outcome`; `aborted` when the caller's signal is.
pub(super) fn meaning(outcome: &Value, provider: &str, aborted: bool, now: i64, on: &Switches) -> Ending {
    let provider = json!(provider);
    let Some(error) = outcome.get("throw") else {
        let said = &outcome["classify"];
        return if said.is_null() {
            Ending::Answer
        } else if aborted {
            Ending::Stopped
        } else {
            Ending::Failed(rejected(said, &provider, now))
        };
    };
    if aborted || script::stopped_by(error).is_some() {
        return Ending::Stopped;
    }
    let mut fault = thrown(error, &script::failure(error, &provider), now);
    if error["$type"] == "LiveSessionModelSwitchError" {
        let target = format!("{}/{}", text(&error["provider"]), text(&error["model"]));
        fault.reason = Some("unknown".to_owned());
        fault.form = Form::Said;
        return Ending::Switched(target, fault);
    }
    if error["name"] == "AbortError" && fault.reason.is_none() && !on.holds("A3") {
        (fault.reason, fault.status, fault.form) = (Some("timeout".to_owned()), Some(408), Form::Made);
    }
    Ending::Failed(fault)
}

fn thrown(error: &Value, failure: &Failure, now: i64) -> Fault {
    let said = error["$type"] == "FailoverError";
    let (reason, kind, explicit) = judged(failure, now);
    let reason = match reason.as_deref() {
        // Said outright, it is a label like any other.
        None if said => error["reason"].as_str().map(str::to_owned),
        _ => reason,
    };
    let levels = || std::iter::successors(Some(error), |level| level.get("cause"));
    let number = |level: &Value| {
        level["status"]
            .as_u64()
            .or_else(|| level["status"].as_str()?.trim().parse().ok())
    };
    // What was classified before has its own facts alone.
    let depth = if said { 1 } else { usize::MAX };
    let stated = levels().take(depth).find_map(number);
    let kept = reason.as_deref() == Some("local") || kind == Kind::Surfaces && !explicit;
    let raw = failure.message.clone().unwrap_or_else(|| error.to_string());
    Fault {
        status: stated.or_else(|| default_status(reason.as_deref()?).filter(|_| !said)),
        code: levels()
            .take(depth)
            .find_map(|level| level["code"].as_str().map(str::to_owned)),
        told: if said {
            error["message"].clone()
        } else {
            raw.clone().into()
        },
        raw,
        form: if said || reason.is_none() || kept {
            Form::Thrown
        } else {
            Form::Made
        },
        wordless: error.is_object() && error["message"].is_null(),
        reason,
        kind,
    }
}

fn rejected(said: &Value, provider: &Value, now: i64) -> Fault {
    if !said["error"].is_null() {
        let mut fault = thrown(&said["error"], &script::failure(&said["error"], provider), now);
        if fault.kind == Kind::Surfaces {
            fault.form = Form::Thrown;
        }
        return fault;
    }
    let rejection = script::rejection(said, provider);
    let reason = match rejection.kind {
        RejectionKind::Useless => Some("empty_response".to_owned()),
        RejectionKind::Failure => judged(&rejection.failure, now).0,
    };
    let raw = said["rawError"]
        .as_str()
        .or(said["message"].as_str())
        .unwrap_or_default();
    Fault {
        reason: reason.or_else(|| Some("unknown".to_owned())),
        status: said["status"].as_u64(),
        code: said["code"].as_str().map(str::to_owned),
        raw: raw.to_owned(),
        told: said["message"].clone(),
        form: Form::Said,
        kind: Kind::Advances,
        wordless: false,
    }
}

/// Reason, effect on the chain, and whether the failure said so.
fn judged(failure: &Failure, now: i64) -> (Option<String>, Kind, bool) {
    let now = Timestamp::from_millisecond(now).unwrap_or_default();
    let Some(verdict) = classify(failure, now) else {
        return (None, Kind::Advances, false);
    };
    let explicit = verdict.certainty == Certainty::Explicit;
    let kind = match verdict.reason {
        Reason::ContentPolicy | Reason::ContextOverflow | Reason::Local => Kind::Surfaces,
        Reason::Format if explicit => Kind::Format,
        _ => Kind::Advances,
    };
    let unnamed = matches!(verdict.reason, Reason::Unclassified | Reason::Unknown);
    (
        (!unnamed).then(|| verdict.reason.as_str().to_owned()),
        kind,
        explicit,
    )
}

///
fn default_status(reason: &str) -> Option<u64> {
    Some(match reason {
        "auth" => 401,
        "auth_permanent" => 403,
        "billing" => 402,
        "context_overflow" => 413,
        "format" => 400,
        "model_not_found" => 404,
        "overloaded" => 503,
        "rate_limit" => 429,
        "server_error" => 500,
        "session_expired" => 410,
        "timeout" => 408,
        _ => return None,
    })
}
