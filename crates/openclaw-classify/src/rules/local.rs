//! Rules for facts about the connection, aborts, timeouts and this machine (classify.md C-3 step 1, C-10).

use super::rule::{Attribution, Condition, Rule, code, text, transport};
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

const fn transport_rule(id: &'static str, then: Reason, transports: &'static [Transport]) -> Rule {
    Rule::new(
        id,
        then,
        Condition::Transports(transports),
        transport(transports[0]),
    )
}

/// The caller's client states these facts, so they outrank every text.
#[rustfmt::skip]
pub(super) static LOCAL: &[Rule] = &[
    transport_rule("transport.aborted-by-caller", Reason::Aborted, &[Transport::Aborted(AbortedBy::Caller)]).attributed_to(Attribution::Caller),
    transport_rule("transport.aborted-by-us", Reason::Aborted, &[Transport::Aborted(AbortedBy::Us)]).attributed_to(Attribution::Us),
    transport_rule("transport.timeout-of-caller", Reason::Timeout, BY_CALLER).attributed_to(Attribution::Caller),
    transport_rule("transport.connect-timeout", Reason::Timeout, NOT_CONNECTED).attributed_to(Attribution::Network),
    transport_rule("transport.timeout", Reason::Timeout, CONNECTED),
    transport_rule("transport.dns", Reason::Timeout, &[Transport::Dns]).attributed_to(Attribution::Network),
    transport_rule("transport.refused", Reason::Timeout, &[Transport::Refused]).attributed_to(Attribution::Network),
    transport_rule("transport.unreachable", Reason::Timeout, &[Transport::Unreachable]).attributed_to(Attribution::Network),
    transport_rule("transport.tls", Reason::Timeout, &[Transport::Tls]).attributed_to(Attribution::Network),
    transport_rule("transport.proxy", Reason::Timeout, &[Transport::Proxy]).attributed_to(Attribution::Network),
    transport_rule("transport.reset", Reason::Timeout, &[Transport::Reset]),
    // Nothing cools down: as soon as the disk accepts writes again, the login is renewed.
    Rule::codes("local.login-not-renewed", Reason::Auth, &[
        "loginnotrenewed",
    ], code("login_not_renewed")).attributed_to(Attribution::Us),
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
