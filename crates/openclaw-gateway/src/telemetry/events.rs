//! Live events for the clients that watch them. A slow client misses events and delays nothing.

use jiff::Timestamp;
use openclaw_runner::{Clock, SystemClock};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::broadcast;

/// How many events a watcher may be behind before it misses some.
const BEHIND: usize = 1_024;

/// The kind of the last event.
pub(crate) const ENDED: &str = "ended";

/// Something that happened.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Event {
    /// When, in Unix milliseconds.
    pub(crate) at: i64,
    /// `broken`, `decision`, `ended`, `notice`, `reload`, `rotation`, `run` or `window`.
    pub(crate) kind: &'static str,
    /// The members of its kind.
    pub(crate) record: Value,
}

/// Where events are told.
#[derive(Debug)]
pub(crate) struct Events(broadcast::Sender<Event>);

impl Default for Events {
    fn default() -> Self {
        Self(broadcast::Sender::new(BEHIND))
    }
}

impl Events {
    /// Whether a client watches, so that an event is worth making.
    pub(crate) fn are_watched(&self) -> bool {
        self.0.receiver_count() > 0
    }

    /// Tells an event; what cannot be written as JSON is not told.
    pub(crate) fn tell(&self, at: Timestamp, kind: &'static str, record: &impl Serialize) {
        if !self.are_watched() {
            return;
        }
        if let Ok(record) = serde_json::to_value(record) {
            // The last watcher may just have left.
            let _ = self.0.send(Event {
                at: at.as_millisecond(),
                kind,
                record,
            });
        }
    }

    /// Ends the streams of all clients that watch.
    pub(crate) fn end(&self) {
        self.tell(SystemClock.now(), ENDED, &());
    }

    /// Everything from now on.
    pub(crate) fn watch(&self) -> broadcast::Receiver<Event> {
        self.0.subscribe()
    }
}
