//! What a request meets at each fault of the wall.

/// What a request meets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meets {
    /// A good answer, perhaps late.
    Answer,
    /// A failure after content was seen.
    Broken,
    /// A failure before any content.
    Failure {
        reason: &'static str,
        /// Whether another key is tried.
        rotates: bool,
        /// Whether the call is made once more at once when no other model remains.
        repeats: bool,
    },
}

use Meets::{Answer, Broken};

/// A failure that another key may not meet.
const fn rotates(reason: &'static str) -> Meets {
    Meets::Failure {
        reason,
        rotates: true,
        repeats: false,
    }
}

/// A failure that every key would meet.
const fn stays(reason: &'static str) -> Meets {
    Meets::Failure {
        reason,
        rotates: false,
        repeats: false,
    }
}

/// A failure that looks like chance.
const fn repeats(reason: &'static str) -> Meets {
    Meets::Failure {
        reason,
        rotates: true,
        repeats: true,
    }
}

/// What a streamed and a plain request meet.
pub(super) struct Expected {
    pub(super) fault: &'static str,
    pub(super) stream: Meets,
    pub(super) plain: Meets,
}

const fn both(fault: &'static str, meets: Meets) -> Expected {
    row(fault, meets, meets)
}

const fn row(fault: &'static str, stream: Meets, plain: Meets) -> Expected {
    Expected { fault, stream, plain }
}

/// Every fault of the wall.
#[rustfmt::skip]
pub(super) const EXPECTED: &[Expected] = &[
    both("ok",                       Answer),
    both("ok-40",                    Answer),
    both("other",                    Answer),
    both("status-400",               stays("format")),
    both("status-401",               rotates("auth")),
    both("status-402",               rotates("billing")),
    both("status-404",               stays("model_not_found")),
    both("status-429",               rotates("rate_limit")),
    both("status-429-after-30",      rotates("rate_limit")),
    both("status-500",               rotates("server_error")),
    both("status-503",               rotates("overloaded")),
    both("status-503-after-30",      rotates("overloaded")),
    both("bare-500",                 repeats("timeout")),
    both("bare-502",                 repeats("timeout")),
    both("bare-503",                 rotates("timeout")),
    both("bare-504",                 repeats("timeout")),
    both("html",                     stays("unclassified")),
    both("html-502",                 repeats("timeout")),
    both("reset-before-head",        repeats("timeout")),
    both("reset-after-head",         rotates("timeout")),
    both("silence",                  stays("timeout")),
    both("slow-head-5",              Answer),
    both("slow-head-60000",          stays("timeout")),
    both("slow-first-token-5",       Answer),
    both("slow-first-token-60000",   rotates("timeout")),
    both("slow-drip-1",              Answer),
    both("slow-drip-400",            rotates("timeout")),
    both("cut-after-0",              rotates("timeout")),
    row ("cut-after-2",              Broken, rotates("timeout")),
    both("stall-after-0",            rotates("timeout")),
    row ("stall-after-2",            Broken, rotates("timeout")),
    row ("malformed",                Answer, stays("empty_response")),
    row ("no-end",                   Broken, Answer),
    both("error-event",              rotates("overloaded")),
    row ("error-after-2",            Broken, rotates("overloaded")),
    both("empty",                    stays("empty_response")),
    both("in-one-piece",             Answer),
    both("wrong-type",               Answer),
    both("huge-body",                stays("unclassified")),
];
