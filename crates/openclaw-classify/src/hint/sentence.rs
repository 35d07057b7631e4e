//! Reset hints in messages: "try again in 9m38.016s", "resets 1pm (Europe/Berlin)" (classify.md C-9).

use std::sync::LazyLock;

use jiff::civil::{Date, DateTime, Time};
use jiff::{Timestamp, ToSpan};
use openclaw_providers::Family;
use regex::{Captures, Regex};

use super::time_value::{self, Unit};
use super::{Candidate, Weight, date};
use crate::HintSource;
use crate::facts::{RESET_CUES, may_state_end};
use crate::text::constant_regex::compile;
use crate::text::patterns::{Patterns, starts_with_ignore_case};

static PATTERNS: Patterns<{ RESET_CUES.len() }> = Patterns::new(RESET_CUES);
/// The most cues of one text that are considered.
const MAX_CUES: usize = 32;
/// The most bytes from a cue to the end of its time.
const REACH: usize = 192;

/// "again in 2 days 17 hours", "retry after 86400 seconds", "retry-after: 30".
static IN: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)^[a-z]*[^.\n]{0,48}?[\s_-](?:in|after|for)[\s:=]+(?:about\s+|approximately\s+|another\s+|~\s*)?((?:\d+(?:\.\d+)?\s*[a-z]+[\s,]*(?:and\s+)?)+|\d+(?:\.\d+)?\b)",
    )
});
/// "wait 20s".
static WAIT: LazyLock<Regex> = LazyLock::new(|| {
    compile(r"(?i)^wait\s+(?:about\s+|another\s+)?((?:\d+(?:\.\d+)?\s*[a-z]+[\s,]*(?:and\s+)?)+)")
});
/// `retry_delay { seconds: 33 }`.
static DELAY: LazyLock<Regex> = LazyLock::new(|| compile(r"(?i)^retry[_ ]?delay\W{0,6}seconds\W{0,4}(\d+)"));
/// "|1760000400".
static EPOCH: LazyLock<Regex> = LazyLock::new(|| compile(r"^\|\s*(\d{10}|\d{13})\b"));
/// "reset at 2026-07-02 17:39:49".
static DATE: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)^[a-z][^\n]{0,60}?(\d{4}-\d\d-\d\d)(?:(?:t|\s+at\s+|\s+)(\d\d:\d\d(?::\d\d)?)(?:\.\d+)?\s*(z\b|utc|gmt|[+-]\d\d:?\d\d)?)?",
    )
});
/// "resets 8:40pm (Europe/Warsaw)", "again at 5:30 PM", "resets Oct 9 at 5pm".
static CLOCK: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)^[a-z]+(?:\s+again)?\s+(?:at\s+|on\s+)?(?:(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(?:at\s+)?)?(\d{1,2})(?::(\d\d))?\s*([ap]\.?m\b)?\.?(?:\s*\(([A-Za-z][A-Za-z0-9_+/-]*)\))?",
    )
});

const MONTHS: &[&str] = &[
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// Adds every end of a limit that `text` states.
pub(super) fn read(candidates: &mut Vec<Candidate>, text: &str, family: Option<Family>, now: Timestamp) {
    if !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return;
    }
    let inside_word = |at: usize| {
        let before = text[..at].chars().next_back();
        before.is_some_and(char::is_alphabetic) && !text[at..].starts_with('|')
    };
    let cues = PATTERNS
        .find_in(text)
        .map(|(_, cue)| cue.start)
        .filter(|at| !inside_word(*at));
    let mut is_announced = false;
    // A stated wait says the same as a date beside it, which need not be looked for then.
    let mut is_wait_stated = false;
    let candidate = |at| Candidate {
        at,
        source: HintSource::Text,
        weight: Weight::Stated,
        of_a_window: false,
    };
    for at in cues.take(MAX_CUES) {
        is_announced |= !text[at..].starts_with('|');
        let said = &text[at..text.floor_char_boundary(at + REACH)];
        if said.bytes().any(|byte| byte.is_ascii_digit()) {
            let waits = waits_after(said, now);
            is_wait_stated |= waits.iter().any(Option::is_some);
            let stated = waits
                .into_iter()
                .flatten()
                .chain(instants_after(said, family, now));
            candidates.extend(stated.map(candidate));
        }
    }
    if !is_wait_stated && (is_announced || may_state_end(text)) {
        candidates.extend(
            date::read(text, family.map_or("UTC", Family::time_zone), now)
                .into_iter()
                .map(candidate),
        );
    }
}

/// What a regular expression captures first.
fn captured<'t>(regex: &Regex, text: &'t str) -> Option<&'t str> {
    let found = regex.captures(text)?;
    found.get(1).map(|found| found.as_str())
}

/// The ends of waits that are stated behind a cue, as lengths of time.
fn waits_after(said: &str, now: Timestamp) -> [Option<Timestamp>; 3] {
    // Each regular expression is tried only on a text that has what every match needs.
    let begins = |word| starts_with_ignore_case(said.as_bytes(), word);
    let waits = [
        may_state_wait(said).then(|| captured(&IN, said)),
        begins("wait").then(|| captured(&WAIT, said)),
        begins("retry").then(|| captured(&DELAY, said)),
    ];
    waits.map(|wait| wait_until(wait.flatten()?, now))
}

/// The instants that are stated behind a cue.
fn instants_after(said: &str, family: Option<Family>, now: Timestamp) -> impl Iterator<Item = Timestamp> {
    let epoch = said.starts_with('|').then(|| captured(&EPOCH, said)).flatten();
    let date = may_state_date(said).then(|| DATE.captures(said)).flatten();
    let clock = may_state_clock(said).then(|| CLOCK.captures(said)).flatten();
    let epoch = epoch.and_then(|epoch| time_value::parse(epoch, Unit::Epoch, now));
    let date = date.and_then(|found| day(&found, family));
    let clock = clock.and_then(|found| time_of_day(&found, now));
    epoch.into_iter().chain(date).chain(clock)
}

/// False when no number follows right after "in", "after" or "for", so that [`IN`] cannot match. Texts outside ASCII,
/// which have other blanks and digits, are left to the regular expression.
fn may_state_wait(said: &str) -> bool {
    let bytes = said.as_bytes();
    let without = |text: &[u8], skipped: &[u8]| {
        let is_kept = |byte: &u8| !byte.is_ascii_whitespace() && *byte != 0x0B && !skipped.contains(byte);
        text.iter().rposition(is_kept).map_or(0, |last| last + 1)
    };
    let ends = |text: &[u8], word: &str| {
        let from = text.len().checked_sub(word.len());
        from.is_some_and(|from| text[from..].eq_ignore_ascii_case(word.as_bytes()))
    };
    let begins = |at: &usize| bytes[*at].is_ascii_digit() && *at > 0 && !bytes[at - 1].is_ascii_digit();
    !said.is_ascii()
        || (0..bytes.len()).filter(begins).any(|at| {
            let before = &bytes[..without(&bytes[..at], b":=~")];
            let about = ["about", "approximately", "another"]
                .into_iter()
                .find(|word| ends(before, word));
            let before = &before[..before.len() - about.map_or(0, str::len)];
            let before = &before[..without(before, b":=")];
            ["in", "after", "for"].into_iter().any(|word| ends(before, word))
        })
}

/// False when no four digits, ASCII or others, precede a dash, so that [`DATE`] cannot match.
fn may_state_date(said: &str) -> bool {
    let bytes = said.as_bytes();
    let mut dashes = memchr::memchr_iter(b'-', bytes);
    dashes.any(|at| {
        let year = at.checked_sub(4).map(|from| &bytes[from..at]);
        year.is_some_and(|year| year.iter().all(|byte| byte.is_ascii_digit() || !byte.is_ascii()))
    })
}

/// False when no number follows the cue, or other words than those of a date are between them, so that [`CLOCK`] cannot
/// match. Texts outside ASCII, which have other blanks and digits, are left to the regular expression.
fn may_state_clock(said: &str) -> bool {
    if !said.is_ascii() {
        return true;
    }
    let mut words = said.split_whitespace();
    let cue = words.next().unwrap_or_default();
    let between = |word: &&str| {
        let is = |other: &str| word.eq_ignore_ascii_case(other);
        let begins = |month: &&str| starts_with_ignore_case(word.as_bytes(), month);
        ["again", "at", "on"].into_iter().any(is) || MONTHS.iter().any(begins)
    };
    let number = words.find(|word| !between(word));
    cue.bytes().all(|byte| byte.is_ascii_alphabetic())
        && number.is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()))
}

/// The end of a stated wait. Other words may follow it, so the longest beginning that is a duration counts.
fn wait_until(wait: &str, now: Timestamp) -> Option<Timestamp> {
    let ends = wait.match_indices(char::is_whitespace).map(|(at, _)| at);
    let ends: Vec<usize> = ends.chain([wait.len()]).collect();
    ends.iter()
        .rev()
        .take(16)
        .find_map(|end| time_value::duration(&wait[..*end]))
        .and_then(|millis| time_value::after(now, millis))
        .or_else(|| time_value::parse(wait, Unit::Seconds, now))
}

fn day(found: &Captures<'_>, family: Option<Family>) -> Option<Timestamp> {
    let date: Date = found[1].parse().ok()?;
    let time: Time = found
        .get(2)
        .map_or(Ok(Time::midnight()), |time| time.as_str().parse())
        .ok()?;
    let zone = found.get(3).map(|zone| zone.as_str());
    let home_zone = family.map_or("UTC", Family::time_zone);
    match zone {
        Some(offset) if offset.starts_with(['+', '-']) => {
            let colon = if offset.contains(':') { "" } else { ":" };
            let (hours, minutes) = offset.split_at(3);
            format!("{date}T{time}{hours}{colon}{minutes}").parse().ok()
        }
        Some(_) => time_value::at(date.to_datetime(time), "UTC"),
        None => time_value::at(date.to_datetime(time), home_zone),
    }
}

/// The next instant of a time of day in the named zone, on the named day if there is one.
fn time_of_day(found: &Captures<'_>, now: Timestamp) -> Option<Timestamp> {
    let half = found.get(5).map(|half| half.as_str().to_ascii_lowercase());
    let minute = found.get(4).map(|minute| minute.as_str());
    if half.is_none() && minute.is_none() {
        return None;
    }
    let hour: i8 = found[3].parse().ok()?;
    let hour = match half.as_deref().map(|half| half.starts_with('p')) {
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some(afternoon) => hour % 12 + if afternoon { 12 } else { 0 },
        None => hour,
    };
    let time = Time::new(hour, minute.unwrap_or("0").parse().ok()?, 0, 0).ok()?;
    let zone = time_value::time_zone(found.get(6).map_or("UTC", |zone| zone.as_str()));
    let local = now.to_zoned_datetime(zone.clone());
    let instant = |date: Date| -> Option<Timestamp> {
        let moment: DateTime = date.to_datetime(time);
        moment
            .to_zoned_datetime(zone.clone())
            .ok()
            .map(|zoned| zoned.timestamp())
    };
    if let (Some(month), Some(day)) = (found.get(1), found.get(2)) {
        let name = month.as_str().to_ascii_lowercase();
        let month = i8::try_from(MONTHS.iter().position(|month| *month == name)? + 1).ok()?;
        let day = day.as_str().parse().ok()?;
        let this_year = Date::new(local.year(), month, day).ok().and_then(instant);
        return this_year
            .filter(|at| *at > now)
            .or_else(|| Date::new(local.year() + 1, month, day).ok().and_then(instant));
    }
    let today = local.date();
    instant(today)
        .filter(|at| *at > now)
        .or_else(|| instant(today.checked_add(1.day()).ok()?))
}
