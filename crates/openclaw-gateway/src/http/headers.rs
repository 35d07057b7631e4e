//! The headers of our own: what a client may ask with, and what it is told about the answer.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue};
use openclaw_runner::{AttemptRecord, RunReport, Winner};
use openclaw_wire::WireFormat;

use crate::telemetry::RunTimes;

/// Request headers.
pub(crate) mod request {
    /// The agent that answers.
    pub(crate) const AGENT_ID: &str = "x-openclaw-agent-id";
    /// A model for this request alone, strict (A9).
    pub(crate) const MODEL: &str = "x-openclaw-model";
    /// `strict` or `chain`: what a `provider/model` in the body means (A9).
    pub(crate) const POLICY: &str = "x-openclaw-policy";
    /// `image`: the models that understand images, for this request alone.
    pub(crate) const RUN: &str = "x-openclaw-run";
    /// The conversation, whose selection is remembered.
    pub(crate) const SESSION_KEY: &str = "x-openclaw-session-key";
}

/// Response headers, on success and on errors.
pub(crate) mod response {
    /// How many calls were made upstream.
    pub(crate) const ATTEMPTS: &str = "x-openclaw-attempts";
    /// The command that was answered here, without any model.
    pub(crate) const COMMAND: &str = "x-openclaw-command";
    /// Position of the model that answered, from 0: the requested one.
    pub(crate) const FALLBACK_INDEX: &str = "x-openclaw-fallback-index";
    /// Why the first attempt failed; absent when none did.
    pub(crate) const FIRST_FAILURE: &str = "x-openclaw-first-failure-reason";
    /// What a conversation is to be told about the model that answers.
    pub(crate) const NOTICE: &str = "x-openclaw-notice";
    /// What the gateway itself took of the time until this answer began, in milliseconds.
    pub(crate) const OWN_TIME: &str = "x-openclaw-own-ms";
    /// The provider that answered.
    pub(crate) const PROVIDER: &str = "x-openclaw-provider";
    /// What a call met that was made once more at once; absent when none was.
    pub(crate) const REPEATED: &str = "x-openclaw-immediate-retry";
    /// The reference that was asked for.
    pub(crate) const REQUESTED_MODEL: &str = "x-openclaw-requested-model";
    /// `unavailable` when the request was served without its session, because the session could not be used.
    pub(crate) const SESSION: &str = "x-openclaw-session";
    /// Names the request in logs.
    pub(crate) const REQUEST_ID: &str = "x-openclaw-request-id";
    /// Models that were left out because they do not speak the format of the request, or no credential of theirs is good
    /// for it.
    pub(crate) const LEFT_OUT: &str = "x-openclaw-left-out";
    /// The `provider/model` that answered.
    pub(crate) const SERVED_MODEL: &str = "x-openclaw-served-model";
    /// Where the session stood when the request came.
    pub(crate) const STICKY: &str = "x-openclaw-sticky";
    /// What the calls took of the time until this answer began, in milliseconds.
    pub(crate) const UPSTREAM_TIME: &str = "x-openclaw-upstream-ms";
}

/// What a client is told about a run, whatever became of it.
pub(crate) fn describe_run(headers: &mut HeaderMap, requested: &str, report: &RunReport, spent: RunTimes) {
    set(headers, response::OWN_TIME, &milliseconds(spent.own));
    set(headers, response::UPSTREAM_TIME, &milliseconds(spent.upstream));
    set(headers, response::REQUESTED_MODEL, requested);
    set(headers, response::ATTEMPTS, &report.calls.to_string());
    if let Some(reason) = report.first_failure() {
        set(headers, response::FIRST_FAILURE, reason.as_str());
    }
}

fn milliseconds(time: Duration) -> String {
    format!("{}.{:03}", time.as_millis(), time.subsec_micros() % 1_000)
}

/// Names the candidates that could not have read the request.
pub(crate) fn describe_incompatible(headers: &mut HeaderMap, incompatible: &[AttemptRecord]) {
    let models: Vec<String> = incompatible.iter().map(|record| record.candidate.key()).collect();
    if !models.is_empty() {
        set(headers, response::LEFT_OUT, &models.join(", "));
    }
}

/// The client's headers that go upstream as they came.
pub(crate) fn forwarded(wire: WireFormat, headers: &HeaderMap) -> HeaderMap {
    let names = wire.family().forwarded_headers();
    let values = |name: &'static str| headers.get_all(name).into_iter().map(move |value| (name, value));
    let pairs = names.iter().flat_map(|name| values(name));
    let mut forwarded = HeaderMap::new();
    for (name, value) in pairs {
        forwarded.append(name, value.clone());
    }
    forwarded
}

/// What a client is told about who answered.
pub(crate) fn describe_winner(headers: &mut HeaderMap, winner: &Winner) {
    set(headers, response::PROVIDER, winner.candidate.provider().as_str());
    set(headers, response::SERVED_MODEL, &winner.candidate.key());
    set(headers, response::FALLBACK_INDEX, &winner.index.to_string());
}

/// The longest value of a header of our own, in bytes: enough for a provider and a model of the longest name.
const MAX_VALUE: usize = 1_024;

/// Sets one header, in UTF-8; a value that no header can carry (an id with a control character) is left out, and a longer
/// one than clients put up with is cut.
pub(crate) fn set(headers: &mut HeaderMap, name: &'static str, value: &str) {
    let cut = (value.len() > MAX_VALUE).then(|| {
        let end = value.floor_char_boundary(MAX_VALUE);
        format!("{}...", &value[..end])
    });
    if let Ok(value) = HeaderValue::from_bytes(cut.as_deref().unwrap_or(value).as_bytes()) {
        headers.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_to_the_microsecond() {
        for (micros, told) in [
            (0, "0.000"),
            (7, "0.007"),
            (1_250, "1.250"),
            (61_000_999, "61000.999"),
        ] {
            assert_eq!(milliseconds(Duration::from_micros(micros)), told);
        }
    }

    #[test]
    fn long_values_are_cut_and_impossible_ones_left_out() {
        let shown = |value: &str| {
            let mut headers = HeaderMap::new();
            set(&mut headers, "x", value);
            headers.get("x").map(HeaderValue::len)
        };
        assert_eq!(shown(&"m".repeat(1_024)), Some(1_024));
        assert_eq!(shown(&"m".repeat(1_025)), Some(1_027));
        assert_eq!(shown("a\nb"), None);
        assert_eq!(shown("ollama/模型"), Some(13));
    }
}
