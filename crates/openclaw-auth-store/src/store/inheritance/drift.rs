//! An agent's old login under a provider's default name, where the main agent has a newer one under another (I7).

use jiff::Timestamp;
use openclaw_ids::ProfileId;

use crate::{AuthSnapshot, Credential, Oauth};

/// Replaces each old login of a snapshot by the main agent's; nothing is stored.
pub(super) fn follow(view: &mut AuthSnapshot, main: &AuthSnapshot, agent: &AuthSnapshot, now: Timestamp) {
    for (old, own) in logins(agent) {
        let name = format!("{}:default", own.provider);
        if old.as_str() == name
            && let Some((new, login)) = replacement(own, old, main, now)
        {
            replace(view, main, old, new, login);
        }
    }
}

fn logins(snapshot: &AuthSnapshot) -> impl Iterator<Item = (&ProfileId, &Oauth)> {
    snapshot
        .profiles
        .iter()
        .filter_map(|(id, credential)| match credential {
            Credential::Oauth(login) => Some((id, login)),
            Credential::ApiKey(_) | Credential::Local(_) | Credential::Token(_) => None,
        })
}

/// The main agent's login that replaces it: the one of the same account that lasts longest, else the only possible
/// one.
fn replacement<'m>(
    own: &Oauth,
    old: &ProfileId,
    main: &'m AuthSnapshot,
    now: Timestamp,
) -> Option<(&'m ProfileId, &'m Oauth)> {
    let usable = own.is_usable(now);
    let mut candidates: Vec<_> = logins(main)
        .filter(|(id, login)| *id != old && login.provider == own.provider && login.is_usable(now))
        .filter(|(_, login)| !usable || login.end() > own.end())
        .collect();
    candidates
        .sort_by(|(a, one), (b, two)| two.end().cmp(&one.end()).then_with(|| a.as_str().cmp(b.as_str())));
    let mut same = candidates.iter().filter(|(_, login)| own.may_become(login));
    let (first, second) = (same.next(), same.next());
    let is_known = own.account_id.is_some() || own.attributes.email.is_some();
    match first {
        Some(first) if is_known || second.is_none() => return Some(*first),
        Some(_) | None if usable => return None,
        Some(_) | None => {}
    }
    let mut possible = candidates.iter().filter(|(_, login)| !own.contradicts(login));
    match (possible.next(), possible.next()) {
        (Some(only), None) => Some(*only),
        (None | Some(_), _) => None,
    }
}

fn replace(view: &mut AuthSnapshot, main: &AuthSnapshot, old: &ProfileId, new: &ProfileId, login: &Oauth) {
    match main.profiles.get(old) {
        Some(inherited) => drop(view.profiles.insert(old.clone(), inherited.clone())),
        None => drop(view.profiles.shift_remove(old)),
    }
    match main.usage.get(old) {
        Some(usage) => view.usage.insert(old.clone(), usage.clone()),
        None => view.usage.remove(old),
    }
    let is_fresher = match view.profiles.get(new) {
        Some(Credential::Oauth(shown)) => shown.end() <= login.end(),
        Some(Credential::ApiKey(_) | Credential::Local(_) | Credential::Token(_)) => false,
        None => true,
    };
    if is_fresher {
        let login = Credential::Oauth(login.clone());
        view.profiles.insert(new.clone(), login);
    }
    for ids in view.order.values_mut() {
        let mut kept: Vec<ProfileId> = Vec::with_capacity(ids.len());
        for id in ids.drain(..) {
            let id = if id == *old { new.clone() } else { id };
            if !kept.contains(&id) {
                kept.push(id);
            }
        }
        *ids = kept;
    }
    for id in view.last_good.values_mut() {
        if id == old {
            id.clone_from(new);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::store::conformance::{NOW, at, profile};
    use crate::store::inheritance::inherit;

    fn login(who: &str, seconds: i64) -> Value {
        let mut entry =
            json!({"type": "oauth", "provider": "openai", "access": "a", "expires": NOW + seconds * 1_000});
        match who.split_once('@') {
            Some(_) => entry["email"] = who.into(),
            None if who.is_empty() => {}
            None => entry["accountId"] = who.into(),
        }
        entry
    }

    fn store(entries: &Value) -> AuthSnapshot {
        let mut store = AuthSnapshot::default();
        for (id, entry) in entries.as_object().unwrap() {
            store
                .upsert(profile(id), Credential::from_json(entry).unwrap())
                .unwrap();
        }
        store
    }

    #[test]
    fn rows_of_i7() {
        for (own, main, expected) in [
            // (a) the same account: the one that lasts longest, of equal ones the first id
            (
                login("x", 0),
                json!({"b": login("x", 900), "a": login("x", 900), "c": login("x", 800)}),
                Some("a"),
            ),
            (login("x", 400), json!({"b": login("x", 900)}), Some("b")),
            (login("x", 900), json!({"b": login("x", 900)}), None),
            (login("", 400), json!({"b": login("y", 900)}), Some("b")),
            (
                login("", 400),
                json!({"b": login("y", 900), "c": login("z", 900)}),
                None,
            ),
            // (b) nothing says that it is another account
            (login("x", 0), json!({"b": login("me@x", 900)}), Some("b")),
            (login("x", 400), json!({"b": login("me@x", 900)}), None),
            (
                login("x", 0),
                json!({"b": login("me@x", 900), "c": login("you@x", 900)}),
                None,
            ),
            (login("x", 0), json!({"b": login("y", 900)}), None),
            (login("me@x", 0), json!({"b": login("you@x", 900)}), None),
            // what cannot be sent is no replacement
            (login("x", 0), json!({"b": login("x", 300)}), None),
            (
                login("x", 0),
                json!({"b": {"type": "api_key", "provider": "openai", "key": "k"}}),
                None,
            ),
        ] {
            let (main, agent) = (store(&main), store(&json!({"openai:default": own})));
            let found = logins(&agent).find_map(|(id, own)| replacement(own, id, &main, at(0)));
            assert_eq!(found.map(|(id, _)| id.as_str()), expected, "{own}");
        }
    }

    #[test]
    fn i7_the_view_follows_and_the_stores_do_not() {
        let main = store(&json!({"openai:me@x": login("x", 900)}));
        let mut agent = store(&json!({"openai:default": login("x", 0), "other": login("x", 0)}));
        let (old, new) = (profile("openai:default"), profile("openai:me@x"));
        let openai = crate::store::conformance::openai();
        agent
            .order
            .insert(openai.clone(), vec![old.clone(), new.clone(), profile("other")]);
        agent.last_good.insert(openai.clone(), old.clone());
        agent
            .usage
            .insert(old.clone(), openclaw_cooldown::ProfileUsage::default());
        let mut view = inherit(&main, &agent);
        follow(&mut view, &main, &agent, at(0));
        assert_eq!(view.order[&openai], [new.clone(), profile("other")]);
        assert_eq!(view.last_good[&openai], new);
        assert!(view.credential(&old).is_none() && !view.usage.contains_key(&old));
        assert!(view.credential(&new).is_some() && view.credential(&profile("other")).is_some());
        // A main agent that has the old id, too, shows its own there.
        let mut main = main;
        let inherited = Credential::from_json(&login("x", 100)).unwrap();
        main.upsert(old.clone(), inherited.clone()).unwrap();
        let mut view = inherit(&main, &agent);
        follow(&mut view, &main, &agent, at(0));
        assert_eq!(view.credential(&old), Some(&inherited));
    }
}
