//! Calendar dates in messages, in the forms and languages of several providers: "December 14, 2026 at 5:30 AM",
//! "14. Dezember 2026 um 05:30 Uhr", "2026年12月14日 05:30", "Mon, 14 Dec 2026 05:30:00 GMT", "2026-W51-1" (classify.md
//! C-9).

use std::sync::LazyLock;

use jiff::civil::{Date, ISOWeekDate, Time, Weekday};
use jiff::{Timestamp, ToSpan};
use regex::{Captures, Regex};

use super::time_value;
use crate::text::constant_regex::compile;

/// The most bytes of a text that are searched.
const MAX_TEXT: usize = 1024;

/// The names of the months.
#[rustfmt::skip]
const MONTHS: &[&str] = &[
    "january|januar|janvier|enero|janeiro|gennaio|januari|janv|jan|ene", "february|februar|février|febrero|fevereiro|febbraio|februari|feb|févr|fev",
    "march|märz|mars|marzo|março|maart|mar", "april|avril|abril|aprile|apr|avr|abr", "may|mai|mayo|maio|maggio|mei",
    "june|juni|juin|junio|junho|giugno|jun", "july|juli|juillet|julio|julho|luglio|jul|juil", "august|août|agosto|augustus|aug|ago",
    "september|septembre|septiembre|setembro|settembre|sept|sep|set", "october|oktober|octobre|octubre|outubro|ottobre|oct|okt|out",
    "november|novembre|noviembre|novembro|nov", "december|dezember|décembre|diciembre|dezembro|dicembre|dec|dez|déc|dic",
];

/// The names of the weekdays, Monday first.
#[rustfmt::skip]
const WEEKDAYS: &[(&str, i8)] = &[
    ("monday", 1), ("montag", 1), ("lundi", 1), ("lunes", 1), ("星期一", 1), ("周一", 1), ("月曜日", 1),
    ("tuesday", 2), ("dienstag", 2), ("mardi", 2), ("martes", 2), ("星期二", 2), ("周二", 2), ("火曜日", 2),
    ("wednesday", 3), ("mittwoch", 3), ("mercredi", 3), ("miércoles", 3), ("星期三", 3), ("周三", 3), ("水曜日", 3),
    ("thursday", 4), ("donnerstag", 4), ("jeudi", 4), ("jueves", 4), ("星期四", 4), ("周四", 4), ("木曜日", 4),
    ("friday", 5), ("freitag", 5), ("vendredi", 5), ("viernes", 5), ("星期五", 5), ("周五", 5), ("金曜日", 5),
    ("saturday", 6), ("samstag", 6), ("samedi", 6), ("sábado", 6), ("星期六", 6), ("周六", 6), ("土曜日", 6),
    ("sunday", 7), ("sonntag", 7), ("dimanche", 7), ("domingo", 7), ("星期日", 7), ("周日", 7), ("日曜日", 7),
];

/// Offsets of zone abbreviations from UTC, in hours.
#[rustfmt::skip]
const ZONES: &[(&str, i8)] = &[
    ("utc", 0), ("gmt", 0), ("z", 0), ("est", -5), ("edt", -4), ("cst", -6), ("cdt", -5), ("mst", -7), ("mdt", -6),
    ("pst", -8), ("pdt", -7), ("cet", 1), ("cest", 2), ("mez", 1), ("mesz", 2), ("bst", 1), ("jst", 9), ("kst", 9),
    ("ist", 5),
];

const TIME: &str = r"(?:(?:[\s,]|\bt|\bat|\bum|\bà|\ba\s+las?|\bàs|\balle|\bom|\ba\b|から|に)*\s*(?P<half1>上午|下午|午前|午後|오전|오후|晚上|早上|凌晨)?\s*(?P<hour>\d{1,2})\b?(?:\s*(?P<sign>[:：.h点點時时시])\s*(?P<minute>\d{2})?(?:[:：분分]\s*(?P<second>\d{2})?)?)?\s*(?P<half2>[ap]\.?\s?m\b\.?)?\s*(?P<unit>uhr\b|h\b)?\s*(?P<zone>\(?(?:utc|gmt)?\s*[+-]\d{1,2}(?::?\d{2})?\)?|\(?[a-z]+(?:/[a-z_]+)+\)?|\(?(?:utc|gmt|z|e[sd]t|c[sd]t|m[sd]t|p[sd]t|cest|cet|mesz|mez|bst|jst|kst|ist)\b\)?)?)?";

/// A day before or after the name of its month.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    compile(&format!(
        r"(?i)(?:\b(?P<day1>\d{{1,2}})(?:st|nd|rd|th|er|º|\.)?\s*(?:de\s+|of\s+)?)?\b(?P<month>{})\b\.?(?:\s+(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\b)?(?:,?\s*(?:de\s+|del\s+)?(?P<year>20\d\d)\b)?{TIME}",
        MONTHS.join("|")
    ))
});
/// Numbers with the signs for year, month and day.
static SIGNED: LazyLock<Regex> = LazyLock::new(|| {
    compile(&format!(
        r"(?i)(?:(?P<year>20\d\d)\s*[年년]\s*)?(?P<month>\d{{1,2}})\s*[月월]\s*(?P<day1>\d{{1,2}})\s*[日日일号]{TIME}"
    ))
});
/// `14.12.2026`, `12/14/2026`, `2026/12/14`.
static NUMERIC: LazyLock<Regex> = LazyLock::new(|| {
    compile(&format!(
        r"(?i)\b(?:(?P<day1>\d{{1,2}})\.\s?(?P<month>\d{{1,2}})\.\s?(?P<year>20\d\d)|(?P<first>\d{{1,2}})/(?P<other>\d{{1,2}})/(?P<year2>20\d\d)|(?P<year3>20\d\d)[/-](?P<month3>\d{{1,2}})[/-](?P<day3>\d{{1,2}})){TIME}"
    ))
});
/// `2026-W51-1`.
static WEEK: LazyLock<Regex> = LazyLock::new(|| {
    compile(&format!(
        r"(?i)\b(?P<year>20\d\d)-?W(?P<week>\d\d)(?:-?(?P<weekday>[1-7]))?{TIME}"
    ))
});
/// A day of the week.
static DAY: LazyLock<Regex> = LazyLock::new(|| {
    compile(&format!(
        r"(?i)(?P<name>{}){TIME}",
        WEEKDAYS
            .iter()
            .map(|(name, _)| *name)
            .collect::<Vec<_>>()
            .join("|")
    ))
});

/// The names of months that are plain ASCII, sorted.
static ASCII_MONTHS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let names = MONTHS.iter().flat_map(|names| names.split('|'));
    let mut names: Vec<&str> = names.filter(|name| name.is_ascii()).collect();
    names.sort_unstable();
    names
});

/// What of a date the words of a text may be, so that only the regular expressions run that can match.
#[derive(Debug, Default, Clone, Copy)]
struct DateParts {
    month: bool,
    weekday: bool,
    year: bool,
}

impl DateParts {
    /// The parts in `text`. One outside ASCII, whose words may not be separated by blanks, may have all of them.
    fn of(text: &str) -> Self {
        if !text.is_ascii() {
            return Self {
                month: true,
                weekday: true,
                year: true,
            };
        }
        let bytes = text.as_bytes();
        let mut parts = Self::default();
        let mut before = ByteClass::Other;
        for (at, byte) in bytes.iter().enumerate() {
            let class = CLASSES[usize::from(*byte)];
            match (before, class) {
                (ByteClass::Other, ByteClass::Letter) if may_begin_name(&bytes[at..]) => {
                    parts.add_name(bytes, at);
                }
                (ByteClass::Letter | ByteClass::Other, ByteClass::Digit) => {
                    parts.year |= is_year(&bytes[at..]);
                }
                _ => {}
            }
            before = class;
        }
        parts
    }

    /// Notes the name of a month or of a day of the week that may begin at `at`. A month counts beside a digit only.
    fn add_name(&mut self, bytes: &[u8], at: usize) {
        let letters = bytes[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_alphabetic())
            .count();
        let mut buffer = [0; LONGEST_NAME];
        let Some(name) = buffer.get_mut(..letters) else {
            return;
        };
        let end = at + letters;
        name.copy_from_slice(&bytes[at..end]);
        name.make_ascii_lowercase();
        let around = &bytes[at.saturating_sub(BESIDE)..bytes.len().min(end + BESIDE)];
        self.month |= around.iter().any(u8::is_ascii_digit)
            && ASCII_MONTHS
                .binary_search_by(|month| month.as_bytes().cmp(name))
                .is_ok();
        self.weekday |= WEEKDAYS.iter().any(|(day, _)| name.starts_with(day.as_bytes()));
    }
}

/// How many bytes may stand between a month and its day or year: "14th of December".
const BESIDE: usize = 12;

/// What a byte of an ASCII text is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ByteClass {
    Digit,
    Letter,
    Other,
}

/// The class of each byte.
static CLASSES: [ByteClass; 256] = {
    let mut classes = [ByteClass::Other; 256];
    let mut ascii: u8 = 0;
    while ascii < 128 {
        if ascii.is_ascii_alphabetic() {
            classes[ascii as usize] = ByteClass::Letter;
        } else if ascii.is_ascii_digit() {
            classes[ascii as usize] = ByteClass::Digit;
        }
        ascii += 1;
    }
    classes
};

/// The first three letters of every name in ASCII, as one bit each in a table of their hashes.
static NAME_HEADS: LazyLock<[u64; 16]> = LazyLock::new(|| {
    let mut heads = [0; 16];
    let days = WEEKDAYS.iter().map(|(day, _)| *day);
    for name in ASCII_MONTHS.iter().copied().chain(days) {
        if let Some(place) = head_place(name.as_bytes()) {
            heads[place / 64] |= 1 << (place % 64);
        }
    }
    heads
});

/// Whether the word may begin with the name of a month or of a day of the week.
fn may_begin_name(word: &[u8]) -> bool {
    head_place(word).is_some_and(|place| NAME_HEADS[place / 64] >> (place % 64) & 1 == 1)
}

/// The place of a word's first three letters in a table of 1024, in any case.
fn head_place(word: &[u8]) -> Option<usize> {
    let [a, b, c] = *word.first_chunk::<3>()?;
    let letter = |byte: u8| byte.is_ascii_alphabetic().then(|| usize::from(byte & 31));
    Some((letter(a)? * 67 + letter(b)? * 131 + letter(c)? * 257) % 1024)
}

/// No name of a month or of a day of the week has more letters.
const LONGEST_NAME: usize = 16;

/// Whether a year of this century begins here.
fn is_year(digits: &[u8]) -> bool {
    digits.starts_with(b"20")
        && digits
            .get(2..4)
            .is_some_and(|two| two.iter().all(u8::is_ascii_digit))
}

/// The dates in `text`; a day of the week counts only when there is no date. Times without a zone are in `home`.
pub(super) fn read(text: &str, home: &str, now: Timestamp) -> Vec<Timestamp> {
    let text = &text[..text.floor_char_boundary(MAX_TEXT)];
    let parts = DateParts::of(text);
    let mut found: Vec<Timestamp> = Vec::new();
    for (may_match, regex) in [
        (parts.month || parts.year, &NAMED),
        (!text.is_ascii(), &SIGNED),
        (parts.year, &NUMERIC),
        (parts.year, &WEEK),
    ] {
        if may_match {
            let dates = regex.captures_iter(text).take(8);
            found.extend(dates.filter_map(|date| dated(&date, home, now)));
        }
    }
    if found.is_empty() && parts.weekday {
        let days = DAY.captures_iter(text).take(8);
        found.extend(days.filter_map(|day| on_weekday(&day, home, now)));
    }
    found
}

fn number<N: std::str::FromStr>(found: &Captures<'_>, names: &[&str]) -> Option<N> {
    let matched = names.iter().find_map(|name| found.name(name))?;
    matched.as_str().parse().ok()
}

/// A date with its time of day, midnight when it has none; without a year the next such date.
fn dated(found: &Captures<'_>, home: &str, now: Timestamp) -> Option<Timestamp> {
    let year: Option<i16> = number(found, &["year", "year2", "year3"]);
    if let Some(week) = number(found, &["week"]) {
        let weekday = Weekday::from_monday_one_offset(number(found, &["weekday"]).unwrap_or(1)).ok()?;
        let date = ISOWeekDate::new(year?, week, weekday).ok()?.date();
        return instant(found, date, home);
    }
    let (month, day) = match (number::<i8>(found, &["first"]), number::<i8>(found, &["other"])) {
        // The order of the United States, unless the first number can be no month.
        (Some(first), Some(other)) if first > 12 => (other, first),
        (Some(first), Some(other)) => (first, other),
        _ => {
            let day: i8 = number(found, &["day1", "day2", "day3"])?;
            (
                number(found, &["month", "month3"]).or_else(|| named_month(found))?,
                day,
            )
        }
    };
    let timed = found.name("hour").is_some();
    // "may" and "mar" are also words, so that a bare day beside a month needs a year or a time.
    if year.is_none() && !timed && found.name("month").is_some_and(|name| name.as_str().len() <= 3) {
        return None;
    }
    if let Some(year) = year {
        return instant(found, Date::new(year, month, day).ok()?, home);
    }
    let this_year = now.to_zoned_datetime(time_value::time_zone(home)).year();
    [this_year, this_year + 1]
        .into_iter()
        .filter_map(|year| instant(found, Date::new(year, month, day).ok()?, home))
        .find(|at| *at > now)
}

fn named_month(found: &Captures<'_>) -> Option<i8> {
    let name = found.name("month")?.as_str().to_lowercase();
    let month = MONTHS
        .iter()
        .position(|names| names.split('|').any(|known| known == name))?;
    i8::try_from(month + 1).ok()
}

/// The next such day of the week, with its time of day.
fn on_weekday(found: &Captures<'_>, home: &str, now: Timestamp) -> Option<Timestamp> {
    let name = found.name("name")?.as_str().to_lowercase();
    let (_, number) = WEEKDAYS.iter().find(|(weekday, _)| *weekday == name)?;
    let weekday = Weekday::from_monday_one_offset(*number).ok()?;
    let today = now.to_zoned_datetime(time_value::time_zone(home)).date();
    (0i32..=7)
        .filter_map(|days| today.checked_add(days.days()).ok())
        .filter(|date: &Date| date.weekday() == weekday)
        .filter_map(|date| instant(found, date, home))
        .find(|at| *at > now)
}

fn instant(found: &Captures<'_>, date: Date, home: &str) -> Option<Timestamp> {
    let time = time(found)?;
    let moment = date.to_datetime(time);
    let Some(zone) = found.name("zone") else {
        return time_value::at(moment, home);
    };
    let zone = zone.as_str().trim_matches(['(', ')', ' ']);
    if zone.contains('/') {
        return time_value::at(moment, zone);
    }
    let lower = zone.to_ascii_lowercase();
    let minutes = match ZONES.iter().find(|(name, _)| *name == lower) {
        Some((name, hours)) => i64::from(*hours) * 60 + if *name == "ist" { 30 } else { 0 },
        None => offset_minutes(&lower)?,
    };
    let utc = time_value::at(moment, "UTC")?;
    utc.checked_sub(minutes.minutes()).ok()
}

/// The minutes of `+02:00`, `utc-5` and the like.
fn offset_minutes(zone: &str) -> Option<i64> {
    let offset = zone.trim_start_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
    let sign = match offset.chars().next()? {
        '-' => -1,
        '+' => 1,
        _ => return None,
    };
    let digits: String = offset.chars().filter(char::is_ascii_digit).collect();
    let (hours, minutes) = digits.split_at(digits.len().min(if digits.len() == 3 { 1 } else { 2 }));
    let minutes: i64 = if minutes.is_empty() {
        0
    } else {
        minutes.parse().ok()?
    };
    Some(sign * (hours.parse::<i64>().ok()? * 60 + minutes))
}

/// The time of day, on the clock of 12 or 24 hours; midnight when there is none.
fn time(found: &Captures<'_>) -> Option<Time> {
    let Some(hour) = number::<i8>(found, &["hour"]) else {
        return Some(Time::midnight());
    };
    let half = found.name("half1").or_else(|| found.name("half2"));
    let half = half.map(|half| half.as_str().to_lowercase());
    let minute: Option<i8> = number(found, &["minute"]);
    let has_sign = found
        .name("sign")
        .is_some_and(|sign| !matches!(sign.as_str(), ":" | "：" | "."));
    if minute.is_none() && half.is_none() && !has_sign && found.name("unit").is_none() {
        // A bare number behind a date is no time of day.
        return Some(Time::midnight());
    }
    let afternoon = half
        .as_deref()
        .map(|half| half.starts_with('p') || ["下午", "午後", "오후", "晚上"].contains(&half));
    let hour = match afternoon {
        Some(_) if !(0..=12).contains(&hour) => return None,
        Some(afternoon) => hour % 12 + if afternoon { 12 } else { 0 },
        None => hour,
    };
    Time::new(
        hour,
        minute.unwrap_or(0),
        number(found, &["second"]).unwrap_or(0),
        0,
    )
    .ok()
}
