//! What must hold of every run, as a table; each row looks at nothing but a trace.

mod logins;
pub(crate) mod oracle;
mod recovery;
mod run;
mod state;

use std::collections::BTreeMap;

use crate::trace::Trace;

/// One thing that must hold.
pub(crate) struct Check {
    /// Its name in reports.
    pub(crate) id: &'static str,
    /// What it says, as in docs/invariants.md.
    pub(crate) says: &'static str,
    pub(crate) holds: fn(&Trace) -> Held,
}

/// Whether it holds of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Held {
    /// It does not concern the run.
    Aside,
    Broken(String),
    Yes,
}

/// How many runs each check concerned.
pub(crate) type Tally = BTreeMap<&'static str, u64>;

/// A check that a run breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) check: &'static str,
    pub(crate) says: &'static str,
    pub(crate) how: String,
}

#[rustfmt::skip]
pub(crate) const CHECKS: &[Check] = &[
    Check { id: "budget",              says: "No more calls are made than the run may make, and none after its time is over.", holds: run::budget },
    Check { id: "one-visit",           says: "Each candidate is visited at most once, in chain order, and no credential is asked twice, unless redirected.", holds: run::one_visit },
    Check { id: "one-record",          says: "Each candidate has exactly one record, a skip or an attempt, unless the run stopped or was redirected.", holds: run::one_record },
    Check { id: "no-silent-skip",      says: "No usable credential is passed over without a recorded reason.", holds: state::no_silent_skip },
    Check { id: "no-rest-broken",      says: "Nobody who rests, and nobody behind an endpoint that does, is asked but as a probe, or once more after a stated wait.", holds: state::no_rest_broken },
    Check { id: "rotation",            says: "A refused, dead or unpaid credential gives way to every other one that is free and was so when the candidate was entered.", holds: state::rotation },
    Check { id: "marks",               says: "Each failure that concerns a credential or a route is written once, before the next call; nothing is written for the caller's, our own or the content's.", holds: state::marks },
    Check { id: "soonest",             says: "The soonest expiry is that of R-10.3 over the windows that hold the chain.", holds: state::soonest },
    Check { id: "one-probe",           says: "At most one probe of a provider is in flight.", holds: run::one_probe },
    Check { id: "leased",              says: "No probe begins without its lease, also when that cannot be written.", holds: run::leased },
    Check { id: "unharmed",            says: "A store that cannot be written costs no answer.", holds: run::unharmed },
    Check { id: "no-lease-left",       says: "No lease outlives its run.", holds: run::no_lease_left },
    Check { id: "recovery-transient",  says: "After a transient failure the primary is used again within the throttle, or three minutes more while a five minute window runs.", holds: recovery::transient },
    Check { id: "recovery-checkpoint", says: "A stated reset and an unpaid bill are looked at again at their checkpoints, which a probe with another credential puts off.", holds: recovery::checkpoint },
    Check { id: "recovery-session",    says: "A session on an automatic override asks its primary again after five minutes.", holds: recovery::session },
    Check { id: "one-refresh",         says: "At most one refresh of a login is in flight.", holds: logins::one_refresh },
    Check { id: "no-token-twice",      says: "No refresh token is sent again that was answered.", holds: logins::no_token_twice },
    Check { id: "live-tokens",         says: "No call carries an access token that has ended.", holds: logins::live_tokens },
    Check { id: "pins",                says: "What a person chose is never changed.", holds: state::pins },
    Check { id: "rolled-back",         says: "A run without an answer leaves the session's selection as it was.", holds: state::rolled_back },
    Check { id: "overlap",             says: "Turns of one session that overlap leave what was there, or what one of them wrote as a whole.", holds: state::overlap },
    Check { id: "replay",              says: "The recorded run, played again, decides the same byte for byte.", holds: run::replayed },
];

/// Runs all checks; the first that does not hold.
pub(crate) fn check_all(checks: &[Check], trace: &Trace, tally: &mut Tally) -> Option<Violation> {
    for check in checks {
        match (check.holds)(trace) {
            Held::Aside => {}
            Held::Yes => *tally.entry(check.id).or_default() += 1,
            Held::Broken(how) => {
                return Some(Violation {
                    check: check.id,
                    says: check.says,
                    how,
                });
            }
        }
    }
    None
}

#[cfg(test)]
mod tests;
