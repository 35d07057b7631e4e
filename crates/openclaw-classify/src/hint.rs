//! Reset hints: when a limit ends, read from headers, body and messages (classify.md C-9, beyond.md BL-37, BL-38).

mod header;
mod sentence;
mod time_value;

use jiff::{SignedDuration, Timestamp};
use openclaw_providers::Family;

use crate::facts::{Facts, PageDetail, ReadOptions, SentenceFilter};
use crate::{Failure, HintSource, ResetHint};

use time_value::Unit;

/// A stated end that is further away is not credible.
const MAX_AHEAD: SignedDuration = SignedDuration::from_hours(35 * 24);

/// One stated end of a limit.
struct Candidate {
    at: Timestamp,
    source: HintSource,
    weight: Weight,
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

/// When the provider says that its limit ends (C-9), from the outermost level of the failure that says so.
pub fn reset_hint(failure: &Failure, now: Timestamp) -> Option<ResetHint> {
    let options = ReadOptions::texts(PageDetail::Presence, SentenceFilter::WithTime);
    failure
        .levels()
        .find_map(|level| find(level, &Facts::read(level, options), now))
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
pub(crate) fn find(failure: &Failure, facts: &Facts<'_>, now: Timestamp) -> Option<ResetHint> {
    let provider = failure.provider.as_ref().map(openclaw_ids::ProviderId::as_str);
    let family = Family::of(provider.or(facts.provider.as_deref()), failure.host.as_deref());
    let mut candidates = header::read(&failure.headers, now);
    candidates.extend(header::read(&facts.headers, now));
    candidates.extend(body(facts, now));
    for text in &facts.sentences {
        sentence::read(&mut candidates, text, family, now);
    }
    if candidates.is_empty() {
        return None;
    }
    let (credible, others): (Vec<_>, Vec<_>) = candidates
        .into_iter()
        .partition(|candidate| is_credible(candidate.at, now));
    let chosen = choose(credible).or_else(|| choose(others))?;
    Some(ResetHint::new(chosen.at, chosen.source, now))
}

fn choose(candidates: Vec<Candidate>) -> Option<Candidate> {
    let top = candidates.iter().map(|candidate| candidate.weight).max()?;
    let floor = match top {
        // Body and message are about this failure, so they count beside the header of a used-up limit.
        Weight::Exhausted => Weight::Stated,
        // No limit is stated to be used up: the longest stated wait counts (BL-37).
        Weight::Stated | Weight::Retry => Weight::Retry,
        Weight::SomeLimit => Weight::SomeLimit,
    };
    let counted = candidates
        .into_iter()
        .filter(|candidate| candidate.weight >= floor);
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
            Some(false) => Weight::SomeLimit,
            None => Weight::Stated,
        };
        Some(Candidate {
            at: time_value::parse(&member.value, unit, now)?,
            source: HintSource::Body,
            weight,
        })
    })
}

#[cfg(test)]
mod tests;
