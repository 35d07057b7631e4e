//! Finds copies of the main agent's logins that hide the fresher original (9.8).

use jiff::Timestamp;
use openclaw_ids::ProfileId;

use crate::{AuthSnapshot, Credential};

/// The agent's logins that are older than the main agent's of the same id: the same login, or one that has ended or
/// ends sooner. Removing them from the agent's store lets it inherit the others.
pub(super) fn stale_copies(main: &AuthSnapshot, agent: &AuthSnapshot, now: Timestamp) -> Vec<ProfileId> {
    let stale_copies = agent.profiles.iter().filter(|(id, own)| {
        let (Credential::Oauth(own), Some(Credential::Oauth(inherited))) = (own, main.profiles.get(*id))
        else {
            return false;
        };
        own == inherited
            || (own.may_become(inherited)
                && ((inherited.is_usable(now) && !own.is_usable(now))
                    || (inherited.end().is_some() && inherited.end() >= own.end())))
    });
    stale_copies.map(|(id, _)| id.clone()).collect()
}
