//! What a failure does to a walk.

use serde_json::{Value, json};

use super::meaning::{Fault, Kind};
use super::record::{as_line, shown};
use super::text;
use super::walk::{FailedCandidate, Next, Walk};

impl Walk<'_, '_> {
    pub(super) fn switch(
        &mut self,
        at: usize,
        target: &str,
        fault: Fault,
        outcome: &Value,
        probe: Option<(bool, bool)>,
    ) -> Next {
        let later = (at + 1..self.chain.len()).find(|later| self.chain[*later] == target);
        let direct = self.on("A6") && self.run["sessionId"].is_string() && self.redirects < 2;
        match later {
            Some(later) if self.run["sessionId"].is_string() => {
                if self.on("A6") {
                    self.strict = Some(later);
                }
                self.redirects += 1;
                Next::To(later)
            }
            _ if direct => {
                self.chain.push(target.to_owned());
                self.redirects += 1;
                self.strict = Some(self.chain.len() - 1);
                Next::To(self.chain.len() - 1)
            }
            _ => self.fail(at, fault, outcome, probe),
        }
    }

    ///
    pub(super) fn fail(
        &mut self,
        at: usize,
        fault: Fault,
        outcome: &Value,
        probe: Option<(bool, bool)>,
    ) -> Next {
        if self.on("R3") {
            self.known = self.known.take().map(|_| self.process.state.clone());
        }
        let spares = [
            "model_not_found",
            "format",
            "auth",
            "auth_permanent",
            "session_expired",
        ];
        let spared = fault
            .reason
            .as_deref()
            .is_some_and(|reason| spares.contains(&reason));
        if probe.is_some_and(|(_, takes_slot)| takes_slot) && !spared {
            self.slots.insert(self.provider(at).to_owned());
        }
        let last = at + 1 == self.chain.len() || self.strict.is_some() || self.over;
        let thrown = outcome.get("throw").is_some();
        let surfaces = fault.kind == Kind::Surfaces || fault.kind == Kind::Format && self.on("A1");
        let rethrown = last && fault.reason.is_none() && thrown;
        self.over |= surfaces;
        self.surfaced = surfaces;
        let left = self.left_by(at, &fault);
        let record = !surfaces && !rethrown || self.on("BL-81");
        let is_switch = outcome["throw"]["$type"] == "LiveSessionModelSwitchError";
        if record {
            let known = fault
                .reason
                .as_deref()
                .filter(|_| fault.reason.is_some() || !thrown);
            self.note("candidate_failed", &left, known, None);
            if !is_switch {
                self.errors.push(json!({
                    "provider": self.provider(at),
                    "model": self.model(at),
                    "attempt": at + 1,
                    "total": self.chain.len(),
                    "error": if self.on("BL-85") { as_line(&text(&fault.told)).into() } else { fault.told.clone() },
                }));
            }
        }
        if surfaces {
            return Next::Done(json!({ "error": self.error(at, &fault, outcome) }));
        }
        self.remember(at, &fault);
        self.put(left);
        self.prefer(at, outcome);
        self.last = Some((at, fault, outcome.clone()));
        Next::To(at + 1)
    }

    fn left_by(&self, at: usize, fault: &Fault) -> FailedCandidate {
        let raw = if self.on("BL-85") {
            as_line(&fault.raw)
        } else {
            fault.raw.clone()
        };
        FailedCandidate {
            at,
            fields: shown(&raw, &fault.raw, fault.wordless),
            error: raw,
            reason: fault.reason.clone(),
            status: fault.status,
            code: fault.code.clone(),
            mode: None,
        }
    }

    ///
    fn remember(&mut self, at: usize, fault: &Fault) {
        let Some(reason) = fault.reason.clone().filter(|reason| reason.starts_with("auth")) else {
            return;
        };
        let given = text(&self.process.input["env"]["OPENCLAW_FALLBACK_SKIP_TTL_MS"]);
        let digits: String = given
            .trim_start()
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        let millis = digits.parse::<i64>().unwrap_or_default();
        if at == 0 || millis == 0 || !self.run["sessionId"].is_string() {
            return;
        }
        let expires = self.process.now + millis.clamp(1_000, 600_000);
        let key = (text(&self.run["sessionId"]), self.chain[at].clone());
        self.process.refused.insert(key, (reason, expires));
    }

    /// the answer of the highest priority, the later one on ties.
    fn prefer(&mut self, at: usize, outcome: &Value) {
        let said = &outcome["classify"];
        let priority = said["preserveResultPriority"].as_i64().unwrap_or_default();
        if said["preserveResultOnExhaustion"] == true && self.kept.is_none_or(|(kept, _)| priority >= kept) {
            self.kept = Some((priority, at));
        }
    }
}
