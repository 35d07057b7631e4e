//! Suggests the login that may have replaced a lost one (O14).

use openclaw_ids::ProfileId;

use crate::{AuthConfig, AuthSnapshot, Credential};

/// The name of a login from before addresses were part of ids.
const DEFAULT_NAME: &str = ":default";

/// The login that probably replaced the lost `<provider>:default`: the one with the configured address, else the last
/// good one, else the only other one, else the only one that is named by an address.
pub(super) fn suggest(snapshot: &AuthSnapshot, config: &AuthConfig, lost: &ProfileId) -> Option<ProfileId> {
    if !lost.as_str().ends_with(DEFAULT_NAME) {
        return None;
    }
    let provider = snapshot.profiles.get(lost)?.provider();
    let others: Vec<(&ProfileId, Option<&str>)> = snapshot
        .profiles
        .iter()
        .filter(|(id, credential)| *id != lost && credential.provider() == provider)
        .filter_map(|(id, credential)| match credential {
            Credential::Oauth(login) => Some((id, login.attributes.email.as_deref())),
            Credential::ApiKey(_) | Credential::Local(_) | Credential::Token(_) => None,
        })
        .collect();
    let only = |ids: Vec<&ProfileId>| match *ids.as_slice() {
        [id] => Some(id.clone()),
        _ => None,
    };
    let email = config
        .profiles
        .get(lost)
        .and_then(|profile| profile.email.as_deref());
    let by_email = email.and_then(|email| {
        let email = email.to_lowercase();
        let mut others = others.iter();
        others.find(|(id, known)| {
            name(id).to_lowercase() == email || known.is_some_and(|known| known.to_lowercase() == email)
        })
    });
    let by_use = snapshot.last_good.get(provider);
    by_email
        .map(|(id, _)| (*id).clone())
        .or_else(|| {
            by_use
                .filter(|good| others.iter().any(|(id, _)| id == good))
                .cloned()
        })
        .or_else(|| only(others.iter().map(|(id, _)| *id).collect()))
        .or_else(|| {
            let named = others.iter().map(|(id, _)| *id);
            only(named.filter(|id| name(id).contains('@')).collect())
        })
}

fn name(id: &ProfileId) -> &str {
    id.as_str().split_once(':').map_or("", |(_, name)| name)
}
