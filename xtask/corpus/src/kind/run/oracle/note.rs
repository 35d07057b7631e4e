//! What a walk writes down as it goes.

use serde_json::{Map, Value, json};

use super::record::detail;
use super::text;
use super::walk::{FailedCandidate, Walk};

impl Walk<'_, '_> {
    ///
    pub(super) fn succeed(&mut self, at: usize, result: &Value, probed: bool) -> Value {
        self.left.retain(|left| left.at != at);
        self.left.sort_by_key(|left| left.at);
        if at > 0 || !self.left.is_empty() || probed {
            let mut record = self.record("candidate_succeeded", at);
            record.retain(|name, _| !name.starts_with("nextCandidate"));
            let m2 = self.on("M2");
            let mut step = Map::new();
            if let Some(last) = self.left.last() {
                let mut put = |name: &str, value: Value| step.insert(format!("fallbackStep{name}"), value);
                put("Type", "fallback_step".into());
                put("FromModel", self.chain[last.at].clone().into());
                put("ToModel", self.chain[at].clone().into());
                put(
                    "FromFailureReason",
                    last.reason.as_deref().unwrap_or("unknown").into(),
                );
                let short = detail(&last.fields).filter(|_| m2);
                put(
                    "FromFailureDetail",
                    short.unwrap_or_else(|| last.error.clone().into()),
                );
                put("ChainPosition", (at + 1).into());
                put("FinalOutcome", "succeeded".into());
                self.steps.push(step.clone().into());
            }
            let previous: Vec<Value> = self.left.iter().map(|left| self.previous(left)).collect();
            record.extend(step);
            record.insert("previousAttempts".to_owned(), previous.into());
            self.decisions.push(record.into());
        }
        self.ok("completed", result, at)
    }

    /// A record that leaves a candidate, and its step.
    pub(super) fn note(
        &mut self,
        kind: &str,
        left: &FailedCandidate,
        reason: Option<&str>,
        profiles: Option<usize>,
    ) {
        let mut record = self.record(kind, left.at);
        let next = self.next(left.at);
        let mut step = Map::new();
        let mut put = |name: &str, value: Value| step.insert(format!("fallbackStep{name}"), value);
        put("Type", "fallback_step".into());
        put("FromModel", self.chain[left.at].clone().into());
        if let Some(next) = &next {
            put("ToModel", next.clone().into());
        }
        if let Some(reason) = reason {
            put("FromFailureReason", reason.into());
            record.insert("reason".to_owned(), reason.into());
        }
        if let Some(detail) = detail(&left.fields) {
            put("FromFailureDetail", detail);
        }
        put("ChainPosition", (left.at + 1).into());
        put(
            "FinalOutcome",
            match &next {
                Some(_) => "next_fallback",
                None if self.surfaced => "surfaced",
                None => "chain_exhausted",
            }
            .into(),
        );
        self.steps.push(step.clone().into());
        record.extend(step);
        record.extend(left.fields.clone());
        if let Some(status) = left.status {
            record.insert("status".to_owned(), status.into());
        }
        if let Some(code) = &left.code {
            record.insert("code".to_owned(), code.clone().into());
        }
        if let Some(count) = profiles {
            record.insert("profileCount".to_owned(), count.into());
        }
        let written = self.process.log.admit(record, self.process.now);
        self.decisions.extend(written.map(Value::from));
    }

    pub(super) fn record(&self, kind: &str, at: usize) -> Map<String, Value> {
        let mut record = self.place();
        let mut put = |name: &str, value: Value| record.insert(name.to_owned(), value);
        put("event", "model_fallback_decision".into());
        put("tags", json!(["error_handling", "model_fallback", kind]));
        put("decision", kind.into());
        put("requestedProvider", text(&self.run["provider"]).into());
        put("requestedModel", text(&self.run["model"]).into());
        put("candidateProvider", self.provider(at).into());
        put("candidateModel", self.model(at).into());
        put("attempt", (at + 1).into());
        put("total", self.chain.len().into());
        put("isPrimary", (at == 0).into());
        put("requestedModelMatched", (self.chain[at] == self.chain[0]).into());
        put("fallbackConfigured", (self.chain.len() > 1).into());
        if let Some((provider, model)) = self.next(at).as_deref().and_then(|next| next.split_once('/')) {
            put("nextCandidateProvider", provider.into());
            put("nextCandidateModel", model.into());
        }
        if self.run["runId"].as_str().is_some_and(|id| !id.is_empty()) {
            put("runId", self.run["runId"].clone());
        }
        record
    }

    pub(super) fn previous(&self, left: &FailedCandidate) -> Value {
        let mut shown = left.fields.clone();
        let mut put = |name: &str, value: Value| shown.insert(name.to_owned(), value);
        put("provider", self.provider(left.at).into());
        put("model", self.model(left.at).into());
        put("reason", left.reason.as_deref().unwrap_or("unknown").into());
        if let Some(status) = left.status {
            put("status", status.into());
        }
        if let Some(code) = &left.code {
            put("code", code.clone().into());
        }
        shown.into()
    }

    /// Session and queue, as far as the run has them.
    pub(super) fn place(&self) -> Map<String, Value> {
        let given = ["sessionId", "lane"]
            .into_iter()
            .filter(|name| !text(&self.run[*name]).is_empty());
        given
            .map(|name| (name.to_owned(), self.run[name].clone()))
            .collect()
    }

    fn next(&self, at: usize) -> Option<String> {
        let ends = self.over || self.strict.is_some();
        self.chain.get(at + 1).filter(|_| !ends).cloned()
    }
}
