//! What logins promise: one refresh at a time, no token twice, and none that has ended.

use super::Held;
use crate::trace::Trace;

/// O4, O6.
pub(super) fn one_refresh(trace: &Trace) -> Held {
    match (trace.logins.at_once, trace.logins.renewed) {
        _ if !trace.leases_hold => Held::Aside,
        (0, 0) => Held::Aside,
        (0, _) => Held::Yes,
        (count, _) => Held::Broken(format!(
            "{count} refreshes began while another of the same login was in flight"
        )),
    }
}

/// O7, O8: what was answered is stored before anybody asks again.
pub(super) fn no_token_twice(trace: &Trace) -> Held {
    match (trace.logins.resent, trace.logins.renewed) {
        _ if !trace.leases_hold => Held::Aside,
        (0, 0) => Held::Aside,
        (0, _) => Held::Yes,
        (count, _) => Held::Broken(format!("{count} refresh tokens were sent that had been answered")),
    }
}

/// O1, O3.
pub(super) fn live_tokens(trace: &Trace) -> Held {
    match (trace.logins.ended, trace.logins.calls) {
        _ if !trace.clocks_agree => Held::Aside,
        (_, 0) => Held::Aside,
        (0, _) => Held::Yes,
        (count, _) => Held::Broken(format!("{count} calls left with an access token that had ended")),
    }
}
