//! Stored logins: when one is usable, which login may replace it, and the lease for refreshing it.

use std::time::Duration;

use jiff::Timestamp;
use openclaw_ids::ProfileId;
use serde::{Deserialize, Serialize};

use super::change::{done, whole_millisecond};
use super::probe::{is_lease_held, lease_end};
use crate::{AuthSnapshot, ChangeOutcome, Credential, Expiry, Oauth};

/// A login is refreshed this long before its end (O1).
pub(crate) const REFRESH_AHEAD: Duration = Duration::from_mins(5);

/// A change of a stored login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoginChange {
    /// A fresher copy of the same login was found; it is taken over unless the stored one lasts longer or belongs to
    /// another account (O9).
    Adopt(Box<Oauth>),
    /// The refresh lease is given back.
    End {
        /// The holder.
        holder: String,
    },
    /// The profile is no longer the last good one (O14).
    ForgetGood,
    /// Takes the refresh lease, or extends it by a minute.
    Lease {
        /// The holder; unique per attempt.
        holder: String,
    },
    /// The provider issued new tokens, which are stored only in place of the login that was read (O8).
    Renew {
        /// The login that was sent.
        read: Box<Oauth>,
        /// What it became.
        new: Box<Oauth>,
    },
}

/// The lease to refresh one login; it expires when its holder dies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefreshLease {
    /// The holder; unique per attempt.
    pub holder: String,
    /// The first instant at which another holder may take it.
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub expires: Timestamp,
}

impl Oauth {
    /// Whether its access token can be sent at `now` without being refreshed first (O1): it ends more than five
    /// minutes later. False without a valid end.
    pub fn is_usable(&self, now: Timestamp) -> bool {
        let ahead = i64::try_from(REFRESH_AHEAD.as_millis()).unwrap_or(i64::MAX);
        let lasts = |end: i64| end.saturating_sub(now.as_millisecond()) > ahead;
        self.access.as_ref().is_some_and(|access| !access.is_blank()) && self.end().is_some_and(lasts)
    }

    /// When it ends, in Unix milliseconds, where that is known.
    pub(crate) fn end(&self) -> Option<i64> {
        match self.expires {
            Some(Expiry::At(end)) => Some(end),
            Some(Expiry::Invalid) | None => None,
        }
    }

    /// Whether `incoming` may take its place: of the same provider, and nothing says that it belongs to another
    /// account (I8).
    pub(crate) fn may_become(&self, incoming: &Self) -> bool {
        let (known, new) = (&self.attributes.email, &incoming.attributes.email);
        let same = match (&self.account_id, &incoming.account_id, known, new) {
            (Some(known), Some(new), _, _) => known == new,
            (_, _, Some(known), Some(new)) => known.to_lowercase() == new.to_lowercase(),
            (None, _, None, _) => true,
            (Some(_), None, _, _) | (_, _, Some(_), None) => false,
        };
        same && self.provider == incoming.provider
    }

    /// Whether both name their account, and the accounts differ.
    pub(crate) fn contradicts(&self, other: &Self) -> bool {
        let differs = |one: &Option<String>, two: &Option<String>| match (one, two) {
            (Some(one), Some(two)) => one.to_lowercase() != two.to_lowercase(),
            (None, _) | (_, None) => false,
        };
        differs(&self.account_id, &other.account_id)
            || differs(&self.attributes.email, &other.attributes.email)
    }

    /// Its secret texts.
    #[cfg(feature = "sqlite")]
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &crate::Secret> {
        [&self.access, &self.refresh, &self.id_token]
            .into_iter()
            .flatten()
    }
}

impl RefreshLease {
    /// Whether no other holder may take it at `now`; see [`ProbeLease::is_held`](crate::ProbeLease::is_held).
    pub fn is_held(&self, now: Timestamp) -> bool {
        is_lease_held(self.expires, now)
    }
}

impl AuthSnapshot {
    pub(crate) fn stored_login(&self, id: &ProfileId) -> Option<Oauth> {
        match self.profiles.get(id)? {
            Credential::Oauth(login) => Some(login.clone()),
            Credential::ApiKey(_) | Credential::Local(_) | Credential::Token(_) => None,
        }
    }

    /// Folds one change of a login into the snapshot, as [`apply`](Self::apply) does with changes of usage state.
    pub fn apply_login(&mut self, id: &ProfileId, change: &LoginChange, now: Timestamp) -> ChangeOutcome {
        let now = whole_millisecond(now);
        match change {
            LoginChange::Adopt(login) => self.adopt_login(id, login),
            LoginChange::End { holder } => {
                let held = self
                    .refreshes
                    .get(id)
                    .is_some_and(|lease| lease.holder == *holder);
                if held {
                    self.refreshes.remove(id);
                }
                done(held)
            }
            LoginChange::ForgetGood => {
                let known = self.last_good.len();
                self.last_good.retain(|_, good| good != id);
                done(self.last_good.len() != known)
            }
            LoginChange::Lease { holder } => self.lease_login(id, holder, now),
            LoginChange::Renew { read, new } => match self.profiles.get(id) {
                Some(Credential::Oauth(stored))
                    if stored == &**read && stored.may_become(new) && stored.end() <= new.end() =>
                {
                    self.put_login(id, new)
                }
                Some(_) | None => ChangeOutcome::Unchanged,
            },
        }
    }

    fn lease_login(&mut self, id: &ProfileId, holder: &str, now: Timestamp) -> ChangeOutcome {
        match self.refreshes.get(id) {
            Some(lease) if lease.is_held(now) && lease.holder != holder => ChangeOutcome::HeldElsewhere,
            Some(_) | None => {
                let lease = RefreshLease {
                    holder: holder.to_owned(),
                    expires: lease_end(now),
                };
                self.refreshes.insert(id.clone(), lease);
                ChangeOutcome::Done
            }
        }
    }

    fn adopt_login(&mut self, id: &ProfileId, login: &Oauth) -> ChangeOutcome {
        let wanted = match self.profiles.get(id) {
            None => true,
            Some(Credential::Oauth(stored)) => {
                stored.may_become(login) && stored.end().is_none_or(|end| login.end() > Some(end))
            }
            Some(Credential::ApiKey(_) | Credential::Local(_) | Credential::Token(_)) => false,
        };
        if wanted {
            self.put_login(id, login)
        } else {
            ChangeOutcome::Unchanged
        }
    }

    fn put_login(&mut self, id: &ProfileId, login: &Oauth) -> ChangeOutcome {
        done(self.upsert(id.clone(), Credential::Oauth(login.clone())).is_ok())
    }
}

#[cfg(test)]
mod tests;
