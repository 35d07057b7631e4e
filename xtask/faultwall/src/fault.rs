//! What an upstream can do wrong, and how it is asked to: the name of a fault is the name of a model.

/// What happens to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// A refusal without any body, as an edge sends it whose server is gone.
    Bare(u16),
    /// The connection ends after this many tokens.
    Cut(usize),
    /// A proper answer with nothing in it.
    Empty,
    /// An error under a 200, before any content.
    ErrorEvent,
    /// An error under a 200, after this many tokens.
    ErrorAfter(usize),
    /// A page for people, under this status.
    Html(u16),
    /// An answer that never stops growing.
    HugeBody,
    /// A good answer that is no stream, whatever was asked for.
    InOnePiece,
    /// Something that is no JSON between two tokens.
    Malformed,
    /// Everything but what marks the end.
    NoEnd,
    /// A good answer of this many tokens.
    Ok(usize),
    /// A good answer that says something else.
    Other,
    /// The connection is reset after the head.
    ResetAfterHead,
    /// The connection is reset before the head.
    ResetBeforeHead,
    /// The request is read, and nothing comes back.
    Silence,
    /// A few bytes at a time, this many milliseconds apart.
    SlowDrip(u64),
    /// The head after this many milliseconds.
    SlowHead(u64),
    /// The head at once, the answer after this many milliseconds.
    SlowFirstToken(u64),
    /// Silence after this many tokens.
    Stall(usize),
    /// A refusal with an error that explains it, and perhaps a number of seconds to wait.
    Status(u16, Option<u64>),
    /// A good answer whose label says that it is something else.
    WrongType,
}

/// How often a fault happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Times {
    /// To every request.
    Always,
    /// To the first request of an upstream; the next ones are answered.
    Once,
}

/// A fault and how often it happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Plan {
    /// What happens.
    pub fault: Fault,
    /// How often.
    pub times: Times,
}

/// One line of the list of faults.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The name, with capital letters for numbers.
    pub name: &'static str,
    /// A name that can be asked for.
    pub example: &'static str,
    /// What happens, in words.
    pub does: &'static str,
}

/// Tokens of an answer whose name says no number.
pub(crate) const TOKENS: usize = 5;

/// Every fault. The text before the first capital letter tells them apart.
#[rustfmt::skip]
pub static FAULTS: &[Row] = &[
    Row { name: "ok",                  example: "ok",                  does: "a good answer of five tokens" },
    Row { name: "ok-N",                example: "ok-200",              does: "a good answer of N tokens" },
    Row { name: "other",               example: "other",               does: "a good answer that says something else" },
    Row { name: "status-S",            example: "status-503",          does: "an error of status S, in the format's own shape" },
    Row { name: "status-S-after-T",    example: "status-429-after-30", does: "the same with `Retry-After: T`" },
    Row { name: "bare-S",              example: "bare-502",            does: "status S without a body" },
    Row { name: "html",                example: "html",                does: "a page for people under a 200" },
    Row { name: "html-S",              example: "html-502",            does: "a page for people under status S" },
    Row { name: "reset-before-head",   example: "reset-before-head",   does: "the connection is reset before anything comes" },
    Row { name: "reset-after-head",    example: "reset-after-head",    does: "the connection is reset after the head" },
    Row { name: "silence",             example: "silence",             does: "the request is read, and nothing comes" },
    Row { name: "slow-head-MS",        example: "slow-head-2000",      does: "the head comes after MS milliseconds" },
    Row { name: "slow-first-token-MS", example: "slow-first-token-2000", does: "the head comes at once, the rest after MS milliseconds" },
    Row { name: "slow-drip-MS",        example: "slow-drip-5",         does: "a good answer, sixteen bytes every MS milliseconds" },
    Row { name: "cut-after-N",         example: "cut-after-2",         does: "the connection ends after N tokens; half of a plain answer" },
    Row { name: "stall-after-N",       example: "stall-after-2",       does: "nothing more comes after N tokens, or half of a plain answer" },
    Row { name: "malformed",           example: "malformed",           does: "an event that is no JSON between two tokens; a plain answer that is none" },
    Row { name: "no-end",              example: "no-end",              does: "every token, and nothing that says that it was the last" },
    Row { name: "error-event",         example: "error-event",         does: "an error under a 200 before any content" },
    Row { name: "error-after-N",       example: "error-after-2",       does: "an error under a 200 after N tokens; instead of a plain answer" },
    Row { name: "empty",               example: "empty",               does: "a proper answer with nothing in it" },
    Row { name: "in-one-piece",        example: "in-one-piece",        does: "a good answer that is no stream, whatever was asked for" },
    Row { name: "wrong-type",          example: "wrong-type",          does: "a good answer with the content type of the other kind" },
    Row { name: "huge-body",           example: "huge-body",           does: "an answer, or one event of it, that never stops growing" },
];

impl Plan {
    /// The fault that `name` asks for; none when it names no fault. A number may be left out where the list has a
    /// shorter name, and `-once` after any name makes it happen to the first request only.
    pub fn of(name: &str) -> Option<Self> {
        let (name, times) = match name.strip_suffix("-once") {
            Some(name) => (name, Times::Once),
            None => (name, Times::Always),
        };
        fault(name).map(|fault| Self { fault, times })
    }
}

fn fault(name: &str) -> Option<Fault> {
    let whole = match name {
        "empty" => Some(Fault::Empty),
        "error-event" => Some(Fault::ErrorEvent),
        "html" => Some(Fault::Html(200)),
        "huge-body" => Some(Fault::HugeBody),
        "in-one-piece" => Some(Fault::InOnePiece),
        "malformed" => Some(Fault::Malformed),
        "no-end" => Some(Fault::NoEnd),
        "ok" => Some(Fault::Ok(TOKENS)),
        "other" => Some(Fault::Other),
        "reset-after-head" => Some(Fault::ResetAfterHead),
        "reset-before-head" => Some(Fault::ResetBeforeHead),
        "silence" => Some(Fault::Silence),
        "wrong-type" => Some(Fault::WrongType),
        _ => None,
    };
    whole.or_else(|| numbered(name))
}

fn numbered(name: &str) -> Option<Fault> {
    let (name, after) = match name
        .strip_prefix("status-")
        .and_then(|rest| rest.split_once("-after-"))
    {
        Some((status, after)) => (format!("status-{status}"), Some(after.parse().ok()?)),
        None => (name.to_owned(), None),
    };
    let (kind, number) = name.rsplit_once('-')?;
    let (number, count) = (number.parse::<u64>().ok()?, number.parse::<usize>().ok()?);
    let status = u16::try_from(number)
        .ok()
        .filter(|status| (200..600).contains(status));
    match kind {
        "bare" => status.map(Fault::Bare),
        "cut-after" => Some(Fault::Cut(count)),
        "error-after" => Some(Fault::ErrorAfter(count)),
        "html" => status.map(Fault::Html),
        "ok" => Some(Fault::Ok(count)),
        "slow-drip" => Some(Fault::SlowDrip(number)),
        "slow-first-token" => Some(Fault::SlowFirstToken(number)),
        "slow-head" => Some(Fault::SlowHead(number)),
        "stall-after" => Some(Fault::Stall(count)),
        "status" => status.map(|status| Fault::Status(status, after)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_of_the_list_is_a_fault_and_no_two_are_the_same() {
        let mut seen = std::collections::HashSet::new();
        for row in FAULTS {
            let plan = Plan::of(row.example).unwrap_or_else(|| panic!("{}", row.example));
            assert_eq!(plan.times, Times::Always);
            assert!(seen.insert(plan), "{}", row.example);
            let once = Plan::of(&format!("{}-once", row.example)).unwrap();
            assert_eq!((once.fault, once.times), (plan.fault, Times::Once));
        }
    }

    #[test]
    fn numbers_are_read_and_other_names_are_no_faults() {
        for (name, fault) in [
            ("status-429-after-30", Some(Fault::Status(429, Some(30)))),
            ("status-503", Some(Fault::Status(503, None))),
            ("cut-after-0", Some(Fault::Cut(0))),
            ("ok-200", Some(Fault::Ok(200))),
            ("slow-first-token-7", Some(Fault::SlowFirstToken(7))),
            ("status-99", None),
            ("status-700", None),
            ("status-429-after-soon", None),
            ("cut-after-", None),
            ("cut-after", None),
            ("gpt-5", None),
            ("", None),
        ] {
            assert_eq!(Plan::of(name).map(|plan| plan.fault), fault, "{name}");
        }
    }
}
