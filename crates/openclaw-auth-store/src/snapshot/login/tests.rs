//! When a login is fresh, and which login replaces which.

#![expect(clippy::needless_pass_by_value, reason = "a case reads best as a value")]

use serde_json::{Value, json};

use super::*;
use crate::store::conformance::{NOW, at, key, profile};

/// A login of `openai` with these members besides.
fn login(members: Value) -> Oauth {
    let mut entry = json!({"type": "oauth", "provider": "openai", "access": "a", "refresh": "r"});
    for (name, value) in members.as_object().unwrap() {
        entry[name] = value.clone();
    }
    match Credential::from_json(&entry).unwrap() {
        Credential::Oauth(login) => login,
        other => panic!("{other:?}"),
    }
}

fn ending(seconds: i64) -> Oauth {
    login(json!({"expires": NOW + seconds * 1_000}))
}

fn holding(login: &Oauth) -> AuthSnapshot {
    let mut snapshot = AuthSnapshot::default();
    snapshot
        .upsert(profile("p"), Credential::Oauth(login.clone()))
        .unwrap();
    snapshot
}

#[test]
fn o1_a_token_is_usable_until_five_minutes_before_its_end() {
    for (members, usable) in [
        (json!({"expires": NOW + 300_001}), true),
        (json!({"expires": NOW + 300_000}), false),
        (json!({"expires": NOW - 1}), false),
        (json!({}), false),
        (json!({"expires": "soon"}), false),
        (json!({"expires": NOW + 300_001, "access": " "}), false),
    ] {
        assert_eq!(login(members.clone()).is_usable(at(0)), usable, "{members}");
    }
}

#[test]
fn i8_whose_login_may_take_the_place_of_another() {
    for (existing, incoming, may) in [
        (json!({}), json!({}), true),
        (json!({}), json!({"accountId": "a", "email": "e"}), true),
        (
            json!({"accountId": "a"}),
            json!({"accountId": "a", "email": "other"}),
            true,
        ),
        (
            json!({"accountId": "a", "email": "e"}),
            json!({"accountId": "b", "email": "e"}),
            false,
        ),
        (
            json!({"accountId": "a", "email": "E"}),
            json!({"email": "e"}),
            true,
        ),
        (json!({"email": "e"}), json!({"email": "f"}), false),
        (json!({"accountId": "a"}), json!({}), false),
        (json!({"email": "e"}), json!({"accountId": "a"}), false),
        (json!({}), json!({"provider": "anthropic"}), false),
    ] {
        let (old, new) = (login(existing.clone()), login(incoming.clone()));
        assert_eq!(old.may_become(&new), may, "{existing} {incoming}");
    }
}

#[test]
fn o4_one_at_a_time_may_refresh() {
    use ChangeOutcome::{Done, HeldElsewhere, Unchanged};
    let lease = |holder: &str| LoginChange::Lease {
        holder: holder.to_owned(),
    };
    let end = |holder: &str| LoginChange::End {
        holder: holder.to_owned(),
    };
    let mut snapshot = holding(&ending(0));
    for (seconds, change, applied) in [
        (0, lease("one"), Done),
        (1, lease("two"), HeldElsewhere),
        (30, lease("one"), Done),
        (89, lease("two"), HeldElsewhere),
        (90, lease("two"), Done),
        (91, end("one"), Unchanged),
        (91, lease("three"), HeldElsewhere),
        (91, end("two"), Done),
        (91, end("two"), Unchanged),
        (91, lease("three"), Done),
        // A clock that is behind by 20 s counts as right.
        (71, lease("four"), HeldElsewhere),
        // A clock that was set back by an hour: no lease can last that long.
        (91 - 3_600, lease("four"), Done),
    ] {
        let found = snapshot.apply_login(&profile("p"), &change, at(seconds));
        assert_eq!(found, applied, "{change:?} at {seconds}");
    }
    snapshot.remove(&profile("p")).unwrap();
    assert!(snapshot.refreshes.is_empty());
}

#[test]
fn o8_new_tokens_are_stored_in_place_of_those_that_were_sent() {
    let renewal = |read: Oauth, new: Oauth| LoginChange::Renew {
        read: Box::new(read),
        new: Box::new(new),
    };
    let account = |id: &str, seconds: i64| login(json!({"accountId": id, "expires": NOW + seconds}));
    for (stored, read, new, applied) in [
        (ending(0), ending(0), ending(9), ChangeOutcome::Done),
        (ending(1), ending(0), ending(9), ChangeOutcome::Unchanged),
        (ending(9), ending(9), ending(8), ChangeOutcome::Unchanged),
        (
            account("a", 0),
            account("a", 0),
            account("b", 9),
            ChangeOutcome::Unchanged,
        ),
        (
            account("a", 0),
            account("a", 0),
            account("a", 9),
            ChangeOutcome::Done,
        ),
    ] {
        let mut snapshot = holding(&stored);
        let found = snapshot.apply_login(&profile("p"), &renewal(read, new.clone()), at(0));
        assert_eq!(found, applied, "{stored:?}");
        let kept = if applied == ChangeOutcome::Done {
            new
        } else {
            stored
        };
        assert_eq!(snapshot.stored_login(&profile("p")), Some(kept));
    }
    let gone = AuthSnapshot::default().apply_login(&profile("p"), &renewal(ending(0), ending(9)), at(0));
    assert_eq!(gone, ChangeOutcome::Unchanged);
}

#[test]
fn o9_a_fresher_copy_is_taken_over_unless_it_is_of_another_account() {
    let email = |email: &str, seconds: i64| login(json!({"email": email, "expires": NOW + seconds}));
    for (stored, new, applied) in [
        (Some(ending(0)), ending(1), ChangeOutcome::Done),
        (Some(login(json!({}))), ending(1), ChangeOutcome::Done),
        (Some(ending(1)), ending(1), ChangeOutcome::Unchanged),
        (Some(ending(2)), ending(1), ChangeOutcome::Unchanged),
        (Some(email("e", 0)), email("f", 9), ChangeOutcome::Unchanged),
        (None, ending(1), ChangeOutcome::Done),
    ] {
        let mut snapshot = stored.as_ref().map(holding).unwrap_or_default();
        let change = LoginChange::Adopt(Box::new(new));
        assert_eq!(
            snapshot.apply_login(&profile("p"), &change, at(0)),
            applied,
            "{stored:?}"
        );
    }
    let mut snapshot = AuthSnapshot::default();
    snapshot.upsert(profile("p"), key("k")).unwrap();
    let change = LoginChange::Adopt(Box::new(ending(9)));
    assert_eq!(
        snapshot.apply_login(&profile("p"), &change, at(0)),
        ChangeOutcome::Unchanged,
        "a key"
    );
    assert_eq!(snapshot.stored_login(&profile("p")), None, "O13");
}
