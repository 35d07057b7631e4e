//! Remembers for a while which fallbacks refused their login in a session, so that they are not asked again.

use std::collections::HashMap;
use std::time::Duration;

use jiff::Timestamp;
use openclaw_classify::Reason;
use openclaw_ids::{ModelRef, SessionId};

/// The shortest time a marker lives, once the cache is on.
const SHORTEST: Duration = Duration::from_secs(1);
/// The longest time a marker lives.
const LONGEST: Duration = Duration::from_mins(10);
/// How often all sessions are searched for dead markers.
const SWEEP: Duration = Duration::from_secs(5);

/// How long a refused fallback is skipped, from the text of `OPENCLAW_FALLBACK_SKIP_TTL_MS`.
///
/// The leading integer counts, in milliseconds, and what follows it is ignored. Zero, negative numbers and anything
/// else switch the cache off; the rest is held between one second and ten minutes.
pub fn parse_skip_ttl(text: Option<&str>) -> Duration {
    let text = text.unwrap_or_default().trim_start();
    let text = text.strip_prefix('+').unwrap_or(text);
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let digits = &text[..end];
    if digits.bytes().all(|digit| digit == b'0') {
        return Duration::ZERO;
    }
    // More digits than a number holds are more than the longest time.
    let millis = digits.parse().unwrap_or(u64::MAX);
    Duration::from_millis(millis).clamp(SHORTEST, LONGEST)
}

/// One refused fallback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marker {
    /// How it was refused.
    pub reason: Reason,
    /// The first instant at which it counts no more.
    expires: Timestamp,
}

impl Marker {
    /// A marker that counts until `expires`.
    pub fn new(reason: Reason, expires: Timestamp) -> Self {
        Self { reason, expires }
    }

    /// The first instant at which it counts no more.
    pub fn expires(&self) -> Timestamp {
        self.expires
    }

    /// Whether it counts at `now`; at its end it does not.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        now < self.expires
    }
}

/// The markers of one session.
pub type Markers = HashMap<ModelRef, Marker>;

/// The markers of all sessions of a process. A [`Runner`](crate::Runner) keeps its own.
#[derive(Debug, Default)]
pub struct SkipCache {
    sessions: HashMap<SessionId, Markers>,
    swept_at: Option<Timestamp>,
}

impl SkipCache {
    /// What `session` should not ask at `now`.
    pub fn markers(&mut self, session: &SessionId, now: Timestamp) -> Markers {
        self.sweep(now);
        let Some(markers) = self.sessions.get_mut(session) else {
            return Markers::default();
        };
        markers.retain(|_, marker| marker.is_valid(now));
        markers.clone()
    }

    /// `candidate` refused its login in `session`.
    pub fn record(
        &mut self,
        session: SessionId,
        candidate: ModelRef,
        reason: Reason,
        ttl: Duration,
        now: Timestamp,
    ) {
        if ttl.is_zero() {
            return;
        }
        let expires = now.saturating_add(ttl).unwrap_or(Timestamp::MAX);
        self.sessions
            .entry(session)
            .or_default()
            .insert(candidate, Marker { reason, expires });
        self.sweep(now);
    }

    /// `candidate` answered in `session`, so its login is good again (R-6, F-1).
    pub fn forget(&mut self, session: &SessionId, candidate: &ModelRef) {
        if let Some(markers) = self.sessions.get_mut(session) {
            markers.remove(candidate);
        }
    }

    fn sweep(&mut self, now: Timestamp) {
        let age = self.swept_at.map(|at| now.duration_since(at).unsigned_abs());
        if age.is_some_and(|age| age < SWEEP) {
            return;
        }
        self.swept_at = Some(now);
        self.sessions.retain(|_, markers| {
            markers.retain(|_, marker| marker.is_valid(now));
            !markers.is_empty()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[rustfmt::skip]
    fn r_6_2_parsing() {
        for (text, millis) in [
            (None, 0), (Some(""), 0), (Some("   "), 0),
            (Some("0"), 0), (Some("000"), 0), (Some("-5"), 0), (Some("abc"), 0), (Some("NaN"), 0),
            (Some("Infinity"), 0), (Some("0x10"), 0), (Some("-"), 0), (Some("+"), 0),
            (Some("1"), 1_000), (Some("500"), 1_000), (Some("1e5"), 1_000), (Some("+700"), 1_000),
            (Some("1000"), 1_000), (Some("1001"), 1_001),
            (Some("60000"), 60_000), (Some(" 60000 "), 60_000), (Some("60000ms"), 60_000),
            (Some("2500.9"), 2_500),
            (Some("600000"), 600_000), (Some("600001"), 600_000), (Some("999999999"), 600_000),
            (Some("99999999999999999999999999"), 600_000),
        ] {
            assert_eq!(parse_skip_ttl(text).as_millis(), millis, "{text:?}");
        }
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millisecond(1_772_366_400_000 + millis).unwrap()
    }

    #[test]
    fn r_6_6_r_6_8_a_marker_is_over_at_its_end_and_leaves_nothing_behind() {
        let mut cache = SkipCache::default();
        let session: SessionId = "s".parse().unwrap();
        let model: ModelRef = "openai/gpt".parse().unwrap();
        let ttl = Duration::from_secs(7);
        cache.record(session.clone(), model.clone(), Reason::Auth, ttl, at(0));
        assert!(
            cache.markers(&"other".parse().unwrap(), at(0)).is_empty(),
            "R-6.3"
        );
        assert_eq!(cache.markers(&session, at(6_999))[&model].reason, Reason::Auth);
        assert!(cache.markers(&session, at(7_000)).is_empty());
        cache.markers(&"other".parse().unwrap(), at(14_000));
        assert!(cache.sessions.is_empty());
    }

    #[test]
    fn r_6_1_without_a_time_nothing_is_remembered() {
        let mut cache = SkipCache::default();
        let session: SessionId = "s".parse().unwrap();
        cache.record(
            session.clone(),
            "openai/gpt".parse().unwrap(),
            Reason::Auth,
            Duration::ZERO,
            at(0),
        );
        assert!(cache.markers(&session, at(0)).is_empty());
    }
}
