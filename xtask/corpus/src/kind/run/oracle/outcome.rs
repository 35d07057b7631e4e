//! How a walk ends (R-8, R-10, R-7.4).

use serde_json::{Value, json};

use super::super::view::{self, cause};
use super::meaning::{Fault, Form};
use super::record::as_line;
use super::walk::{FailedCandidate, Walk};

impl Walk<'_, '_> {
    /// No candidate answered.
    pub(super) fn end(&self) -> Value {
        let merged = self.run["mergeExhausted"] == true;
        let last = self.last.as_ref();
        let closing = self.left.iter().map(|left| left.at).max();
        // R-8.1: an error that no rule recognised, of the last candidate, is the answer.
        if let Some((at, fault, outcome)) = last
            && fault.reason.is_none()
            && outcome.get("throw").is_some()
            && closing == Some(*at)
        {
            return json!({ "error": self.error(*at, fault, outcome) });
        }
        if let Some((_, kept)) = self.kept {
            let answer = |at: usize| {
                self.answered
                    .iter()
                    .rev()
                    .find(|(known, _)| *known == at)
                    .map(|(_, answer)| answer.clone())
            };
            let latest = self.answered.last().map_or(kept, |(at, _)| *at);
            let preferred = answer(kept).unwrap_or_default();
            return if merged && latest != kept {
                self.ok(
                    "exhausted",
                    &json!({ "latest": answer(latest), "preferred": preferred }),
                    latest,
                )
            } else {
                self.ok("exhausted", &preferred, kept)
            };
        }
        match last {
            Some((at, fault, outcome)) if self.left.len() <= 1 => {
                json!({ "error": self.error(*at, fault, outcome) })
            }
            _ => json!({ "error": self.summary() }),
        }
    }

    fn summary(&self) -> Value {
        let shown = self.left.iter().map(|left| {
            let reason = left.reason.as_deref().unwrap_or("unknown");
            format!("{}: {} ({reason})", self.chain[left.at], left.error)
        });
        let body = shown.collect::<Vec<_>>().join(" | ");
        let last = self.last.as_ref().filter(|(_, fault, _)| {
            fault
                .reason
                .as_deref()
                .is_some_and(|reason| reason.starts_with("auth"))
        });
        let hint = last.map_or_else(String::new, |(at, ..)| {
            format!(
                ". Re-authenticate with: openclaw models auth login --provider '{}' --force",
                self.provider(*at).replace('\'', r"'\''")
            )
        });
        let mut error = self.place();
        let mut put = |name: &str, value: Value| error.insert(name.to_owned(), value);
        put("name", "FallbackSummaryError".into());
        put(
            "message",
            format!("All models failed ({}): {body}{hint}", self.left.len()).into(),
        );
        put("attempts", self.attempts());
        put("soonestCooldownExpiry", json!(self.soonest()));
        put("rethrown", false.into());
        if let Some((at, fault, outcome)) = &self.last {
            let own = self.left.iter().find(|left| left.at == *at);
            let message = own.map_or_else(|| fault.raw.clone(), |left| left.error.clone());
            let name = match fault.reason {
                None => view::name(&outcome["throw"]),
                Some(_) => "FailoverError".to_owned(),
            };
            put("cause", json!({ "name": name, "message": message }));
        }
        error.into()
    }

    /// The failure of one candidate as the error of the run.
    pub(super) fn error(&self, at: usize, fault: &Fault, outcome: &Value) -> Value {
        let said = outcome.get("throw").or_else(|| outcome["classify"].get("error"));
        if fault.form == Form::Thrown {
            return said.map_or_else(|| json!({ "rethrown": false }), view::as_thrown);
        }
        let left = self.left.iter().find(|left| left.at == at);
        let shown = left.map_or_else(
            || {
                if self.process.on.holds("BL-85") {
                    as_line(&fault.raw)
                } else {
                    fault.raw.clone()
                }
            },
            |left| left.error.clone(),
        );
        let mut error = self.place();
        let mut put = |name: &str, value: Value| error.insert(name.to_owned(), value);
        put("name", "FailoverError".into());
        put("message", shown.clone().into());
        put("reason", json!(fault.reason));
        put("provider", self.provider(at).into());
        put("model", self.model(at).into());
        put("rethrown", false.into());
        if let Some(status) = fault.status {
            put("status", status.into());
        }
        if let Some(code) = &fault.code {
            put("code", code.clone().into());
        }
        if fault.form == Form::Made {
            put("rawError", shown.into());
            let asks = ["billing", "rate_limit"];
            put(
                "suspend",
                fault
                    .reason
                    .as_deref()
                    .is_some_and(|reason| asks.contains(&reason))
                    .into(),
            );
            if let Some(error) = said.filter(|error| error["$type"] == "Error") {
                put("cause", cause(error));
            }
        }
        error.into()
    }

    /// What the caller's own cancelling leaves: the thrown value, or what the answer was said to be.
    pub(super) fn stopped(&self, at: usize, outcome: &Value) -> Value {
        let said = &outcome["classify"];
        if said.is_null() {
            return json!({ "error": view::as_thrown(&outcome["throw"]) });
        }
        json!({ "error": view::said(self.place(), self.provider(at), self.model(at), said) })
    }

    pub(super) fn ok(&self, outcome: &str, result: &Value, at: usize) -> Value {
        json!({ "ok": {
            "outcome": outcome,
            "result": result,
            "provider": self.provider(at),
            "model": self.model(at),
            "attempts": self.attempts(),
        }})
    }

    fn attempts(&self) -> Value {
        let shown = |left: &FailedCandidate| {
            let mut shown = json!({
                "provider": self.provider(left.at),
                "model": self.model(left.at),
                "error": left.error,
                "reason": left.reason.as_deref().unwrap_or("unknown"),
            });
            if let Some(status) = left.status {
                shown["status"] = status.into();
            }
            if let Some(code) = &left.code {
                shown["code"] = code.clone().into();
            }
            if let Some(mode) = &left.mode {
                shown["authMode"] = mode.clone().into();
            }
            shown
        };
        self.left.iter().map(shown).collect()
    }
}
