//! Who did it: the caller, this process, our own timers, the network (classify.md C-3 step 1, C-10).

use super::rule::{Concern, Rule, Saw, code, text, transport};
use crate::Reason;
use crate::failure::{AbortedBy, TimeoutPhase, TimerOwner, Transport};

const BY_CALLER: &[Transport] = &[
    Transport::Timeout(TimeoutPhase::Connect, TimerOwner::Caller),
    Transport::Timeout(TimeoutPhase::FirstByte, TimerOwner::Caller),
    Transport::Timeout(TimeoutPhase::FirstContent, TimerOwner::Caller),
    Transport::Timeout(TimeoutPhase::Idle, TimerOwner::Caller),
    Transport::Timeout(TimeoutPhase::Total, TimerOwner::Caller),
];

const NOT_CONNECTED: &[Transport] = &[
    Transport::Timeout(TimeoutPhase::Connect, TimerOwner::Provider),
    Transport::Timeout(TimeoutPhase::Connect, TimerOwner::Us),
];

const CONNECTED: &[Transport] = &[
    Transport::Timeout(TimeoutPhase::FirstByte, TimerOwner::Provider),
    Transport::Timeout(TimeoutPhase::FirstByte, TimerOwner::Us),
    Transport::Timeout(TimeoutPhase::FirstContent, TimerOwner::Provider),
    Transport::Timeout(TimeoutPhase::FirstContent, TimerOwner::Us),
    Transport::Timeout(TimeoutPhase::Idle, TimerOwner::Provider),
    Transport::Timeout(TimeoutPhase::Idle, TimerOwner::Us),
    Transport::Timeout(TimeoutPhase::Total, TimerOwner::Provider),
    Transport::Timeout(TimeoutPhase::Total, TimerOwner::Us),
];

const fn seen(id: &'static str, then: Reason, facts: &'static [Transport]) -> Rule {
    Rule::new(id, then, Saw::Transports(facts), transport(facts[0]))
}

/// Transport facts are told by the caller's client, so they outrank every text.
#[rustfmt::skip]
pub(super) static WHO: &[Rule] = &[
    seen("transport.aborted-by-caller", Reason::Aborted, &[Transport::Aborted(AbortedBy::Caller)]).concerning(Concern::Caller),
    seen("transport.aborted-by-us", Reason::Aborted, &[Transport::Aborted(AbortedBy::Us)]).concerning(Concern::Us),
    seen("transport.timeout-of-caller", Reason::Timeout, BY_CALLER).concerning(Concern::Caller),
    seen("transport.connect-timeout", Reason::Timeout, NOT_CONNECTED).concerning(Concern::Network),
    seen("transport.timeout", Reason::Timeout, CONNECTED),
    seen("transport.dns", Reason::Timeout, &[Transport::Dns]).concerning(Concern::Network),
    seen("transport.refused", Reason::Timeout, &[Transport::Refused]).concerning(Concern::Network),
    seen("transport.unreachable", Reason::Timeout, &[Transport::Unreachable]).concerning(Concern::Network),
    seen("transport.tls", Reason::Timeout, &[Transport::Tls]).concerning(Concern::Network),
    seen("transport.proxy", Reason::Timeout, &[Transport::Proxy]).concerning(Concern::Network),
    seen("transport.reset", Reason::Timeout, &[Transport::Reset]),
    // Nothing is marked: once the disk takes changes again, the login is renewed at once.
    Rule::codes("local.login-not-renewed", Reason::Auth, &[
        "loginnotrenewed",
    ], code("login_not_renewed")).concerning(Concern::Us),
    Rule::codes("local.session-lock", Reason::Local, &[
        "openclawsessionwritelocktimeout", "openclawsessionwritelockstale", "sessionwritelocktimeouterror",
    ], code("OPENCLAW_SESSION_WRITE_LOCK_TIMEOUT")),
    Rule::codes("local.missing-tool-result", Reason::Local, &[
        "missingtoolresult",
    ], code("missing_tool_result")),
    Rule::codes("local.machine", Reason::Local, &[
        "enospc", "emfile", "enfile", "enomem", "erofs", "edquot", "sqlitebusy", "sqlitefull",
        "sqlitelocked", "sqlitereadonly",
    ], code("ENOSPC")),
    Rule::phrases("local.machine-text", Reason::Local, &[
        "no space left on device", "disk quota exceeded", "too many open files", "database is locked",
        "database or disk is full", "session file (locked|lock stale)",
        "read only file system",
    ], text("write failed: no space left on device")),
    // With a status it is a provider's answer that quotes these words.
    Rule::phrases("local.tool-result", Reason::Local, &[
        "tool.call without a matching tool.result",
    ], text("native Codex tool.call without a matching tool.result")).at(&[(0, 0)]),
];
