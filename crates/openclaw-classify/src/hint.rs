//! Reset hints: when a limit ends, read from headers, body and messages (classify.md C-9, beyond.md BL-37, BL-38).

mod date;
mod header;
mod sentence;
mod time_value;

use jiff::{SignedDuration, Timestamp};
use openclaw_providers::Family;

use crate::facts::{Facts, PageDetail, ReadOptions, SentenceFilter};
use crate::{Failure, HintSource, Reason, ResetHint};

use time_value::Unit;

/// A stated end that is further away is not credible.
const MAX_AHEAD: SignedDuration = SignedDuration::from_hours(35 * 24);

/// One stated end of a limit.
struct Candidate {
    at: Timestamp,
    source: HintSource,
    weight: Weight,
    /// It is the end of a quota window, not a wait before a retry.
    of_a_window: bool,
}

/// What one level of a failure states.
#[derive(Default)]
pub(crate) struct Hints {
    /// With the ends of quota windows.
    windows: Option<ResetHint>,
    /// Waits before a retry alone.
    waits: Option<ResetHint>,
}

impl Hints {
    /// These, and where they say nothing, those of an inner level.
    pub(crate) fn or(self, inner: Self) -> Self {
        Self {
            windows: self.windows.or(inner.windows),
            waits: self.waits.or(inner.waits),
        }
    }

    /// Whether an inner level has nothing to add.
    pub(crate) fn is_full(&self) -> bool {
        self.windows.is_some() && self.waits.is_some()
    }

    /// The hint of a failure with this reason: only what a quota refused is over when a quota window ends (F-20).
    pub(crate) fn of(self, reason: Reason) -> Option<ResetHint> {
        match reason {
            Reason::Billing | Reason::RateLimit => self.windows,
            Reason::Aborted
            | Reason::Auth
            | Reason::AuthPermanent
            | Reason::ContentPolicy
            | Reason::ContextOverflow
            | Reason::EmptyResponse
            | Reason::Format
            | Reason::Local
            | Reason::ModelNotFound
            | Reason::NoErrorDetails
            | Reason::Overloaded
            | Reason::ServerError
            | Reason::SessionExpired
            | Reason::Timeout
            | Reason::Unclassified
            | Reason::Unknown => self.waits,
        }
    }
}

/// How strong a statement is, weakest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    /// The end of a limit that may be unrelated to this failure.
    SomeLimit,
    /// The wait before any retry.
    Retry,
    /// Stated in the body or message of this failure.
    Stated,
    /// The end of a limit that is stated to be used up.
    Exhausted,
}

/// When the provider says that its limit ends (C-9), from the outermost level of the failure that says so. Whether the
/// end of a quota window concerns the failure depends on its reason, which only [`classify`](crate::classify()) knows.
pub fn reset_hint(failure: &Failure, now: Timestamp) -> Option<ResetHint> {
    let options = ReadOptions::texts(PageDetail::Presence, SentenceFilter::WithTime);
    failure
        .levels()
        .find_map(|level| find(level, &Facts::read(level, options), now).windows)
}

impl ResetHint {
    /// A hint that is credible when `at` is after `now`, by 35 days at most (C-9).
    pub fn new(at: Timestamp, source: HintSource, now: Timestamp) -> Self {
        Self {
            at,
            source,
            credible: is_credible(at, now),
        }
    }
}

/// The hint of one level: the latest end of a limit that is used up or named in the body or message, else the longest
/// wait before a retry, else the end of the limit that ends first.
pub(crate) fn find(failure: &Failure, facts: &Facts<'_>, now: Timestamp) -> Hints {
    let provider = failure.provider.as_ref().map(openclaw_ids::ProviderId::as_str);
    let family = Family::of(provider.or(facts.provider.as_deref()), failure.host.as_deref());
    let mut candidates = header::read(&failure.headers, now);
    candidates.extend(header::read(&facts.headers, now));
    candidates.extend(body(facts, now));
    for text in &facts.sentences {
        sentence::read(&mut candidates, text, family, now);
    }
    if candidates.is_empty() {
        return Hints::default();
    }
    let (credible, others): (Vec<_>, Vec<_>) = candidates
        .into_iter()
        .partition(|candidate| is_credible(candidate.at, now));
    let hint = |of_windows: bool| {
        let chosen = choose(&credible, of_windows).or_else(|| choose(&others, of_windows))?;
        Some(ResetHint::new(chosen.at, chosen.source, now))
    };
    Hints {
        windows: hint(true),
        waits: hint(false),
    }
}

/// The statement that counts, with or without those of quota windows.
fn choose(candidates: &[Candidate], of_windows: bool) -> Option<&Candidate> {
    let candidates = candidates
        .iter()
        .filter(|candidate| of_windows || !candidate.of_a_window);
    let top = candidates.clone().map(|candidate| candidate.weight).max()?;
    let floor = match top {
        // Body and message are about this failure, so they count beside the header of a used-up limit.
        Weight::Exhausted => Weight::Stated,
        // No limit is stated to be used up: the longest stated wait counts (BL-37).
        Weight::Stated | Weight::Retry => Weight::Retry,
        Weight::SomeLimit => Weight::SomeLimit,
    };
    let counted = candidates.filter(|candidate| candidate.weight >= floor);
    match top {
        Weight::SomeLimit => counted.min_by_key(|candidate| candidate.at),
        Weight::Retry | Weight::Stated | Weight::Exhausted => counted.max_by_key(|candidate| candidate.at),
    }
}

fn is_credible(at: Timestamp, now: Timestamp) -> bool {
    at > now && at.duration_since(now) <= MAX_AHEAD
}

fn body(facts: &Facts<'_>, now: Timestamp) -> impl Iterator<Item = Candidate> {
    facts.times.iter().filter_map(move |member| {
        let unit = match member.key {
            "retryafterms" => Unit::Milliseconds,
            key if key.ends_with("at") || key.ends_with("timestamp") => Unit::Epoch,
            _ => Unit::Seconds,
        };
        let weight = match member.exhausted {
            Some(true) => Weight::Exhausted,
            // A window with room says nothing about any failure.
            Some(false) => return None,
            None => Weight::Stated,
        };
        Some(Candidate {
            at: time_value::parse(&member.value, unit, now)?,
            source: HintSource::Body,
            weight,
            of_a_window: member.key.starts_with("reset") || member.key.starts_with("quota"),
        })
    })
}

#[cfg(test)]
mod tests;
