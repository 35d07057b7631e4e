//! Builders for tests: instants in milliseconds after a fixed start, events, usage states.

pub(crate) mod extremes;
pub(crate) mod history;
pub(crate) mod oracle;

use jiff::Timestamp;
use openclaw_classify::{HintSource, Reason, ResetHint};
use openclaw_ids::{ModelId, ProviderId};

use crate::{
    CooldownConfig, FailureEvent, Lane, MarkScope, ProfileUsage, SuccessEvent, Window, millis,
    record_failure, record_success,
};

/// The start of every test, in Unix milliseconds.
pub(crate) const START: i64 = 1_750_000_000_000;

pub(crate) const SECOND: i64 = 1_000;
pub(crate) const MINUTE: i64 = 60 * SECOND;
pub(crate) const HOUR: i64 = 60 * MINUTE;
pub(crate) const DAY: i64 = 24 * HOUR;

/// `ms` after the start.
pub(crate) fn at(ms: i64) -> Timestamp {
    millis::saturating(START + ms)
}

/// How long after the start an instant is.
pub(crate) fn offset(at: Timestamp) -> i64 {
    at.as_millisecond() - START
}

pub(crate) fn provider(id: &str) -> ProviderId {
    ProviderId::try_new(id).unwrap()
}

pub(crate) fn model(id: &str) -> ModelId {
    ModelId::try_new(id).unwrap()
}

pub(crate) fn on_model(id: &str) -> Lane {
    Lane::Model(model(id))
}

/// A failure of model `m`, scoped to it, of an attempt that started at an unknown time.
pub(crate) fn failure(reason: Reason) -> FailureEvent {
    FailureEvent {
        provider: provider("anthropic"),
        reason,
        scope: MarkScope::Model,
        model: Some(model("m")),
        hint: None,
        started_at: None,
    }
}

impl FailureEvent {
    pub(crate) fn of(mut self, id: &str) -> Self {
        self.model = Some(model(id));
        self
    }

    pub(crate) fn account_wide(mut self) -> Self {
        self.scope = MarkScope::Profile;
        self
    }

    pub(crate) fn started(mut self, ms: i64) -> Self {
        self.started_at = Some(at(ms));
        self
    }

    pub(crate) fn hinting(mut self, ms: i64) -> Self {
        self.hint = Some(ResetHint {
            at: at(ms),
            source: HintSource::Body,
            credible: true,
        });
        self
    }
}

impl ProfileUsage {
    /// This state after a failure at `ms`, with default settings.
    pub(crate) fn failed(self, ms: i64, event: &FailureEvent) -> Self {
        record_failure(self, event, at(ms), &CooldownConfig::default())
    }

    /// This state after a success of `m` at `ms`, of an attempt that started then.
    pub(crate) fn succeeded(self, ms: i64) -> Self {
        let event = SuccessEvent {
            model: Some(model("m")),
            started_at: Some(at(ms)),
        };
        record_success(self, &event, at(ms))
    }

    /// Start and end of a lane's window, in milliseconds after the start.
    pub(crate) fn span(&self, lane: &Lane) -> Option<(i64, i64)> {
        let window = self.windows.get(lane)?;
        Some((offset(window.opened_at), offset(window.until)))
    }

    pub(crate) fn steps(&self, lane: &Lane) -> u32 {
        self.windows.get(lane).map_or(0, |window| window.steps)
    }
}

/// A state with these windows, each open since the start.
pub(crate) fn usage(windows: &[(Lane, Reason, i64)]) -> ProfileUsage {
    let window = |(lane, reason, until): &(Lane, Reason, i64)| {
        let mut window = Window::new(at(0), at(*until), *reason);
        window.stated = (*lane == Lane::Blocked).then_some(window.until);
        (lane.clone(), window)
    };
    ProfileUsage {
        windows: windows.iter().map(window).collect(),
        last_failure_at: Some(at(0)),
        ..ProfileUsage::default()
    }
}
