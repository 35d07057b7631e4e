//! Refreshes that do not succeed (O8, O11, O12, Z6).

use super::*;
use crate::refresh::lock_file::LockFile;

#[tokio::test]
async fn o7_the_provider_has_two_minutes() {
    let (endpoint, host) = (Endpoint::default(), Host::default());
    let store = store(json!({"p": entry("old", 0)}));
    let error = ask(&store, &endpoint, &host, Demand::Usable).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "OAuth token refresh failed for openai: the provider did not answer within 120 s. \
         Try again; log in again if it goes on"
    );
    assert_eq!(host.slept.load(Ordering::SeqCst), 120_000);
    assert!(store.snapshot().refreshes.is_empty());
}

#[tokio::test]
async fn o6_o12_a_refresh_that_goes_on_elsewhere_is_waited_for_and_given_up() {
    let (endpoint, host) = (Endpoint::default(), Host::default());
    let store = store(json!({"p": entry("old", 0)}));
    let (folder, refresher) = refresher(&endpoint, &host);
    // The lease of a process that died frees itself; the file of one that lives does not.
    let lease = LoginChange::Lease {
        holder: "dead".to_owned(),
    };
    store.change_login(profile("p"), lease, at(0)).await.unwrap();
    let name = refresh_lock_name(&"openai".parse().unwrap(), &profile("p"));
    let path = folder.path().join(format!("locks/oauth-refresh/{name}.lock"));
    let held = LockFile::try_take(&path, at(0)).unwrap().unwrap();
    let (config, id) = (AuthConfig::default(), profile("p"));
    let error = refresher
        .login(&store, &config, &id, Demand::Usable)
        .await
        .unwrap_err();
    assert_eq!((error.code(), endpoint.sent().len()), ("refresh_contention", 0));
    assert!(
        host.slept.load(Ordering::SeqCst) >= 120_000,
        "longer than any call"
    );
    drop(held);
    endpoint.then(None, renewed("new", 36_000));
    let answer = refresher.login(&store, &config, &id, Demand::Usable).await;
    assert_eq!(access(&answer), Some("new"));
}

#[tokio::test]
async fn o8_tokens_are_not_stored_over_another_login() {
    let (endpoint, host) = (Endpoint::default(), Host::default());
    let store = Arc::new(store(json!({"p": entry("old", 0)})));
    let replaced = Arc::clone(&store);
    let before: SideEffect = Box::new(move || {
        let login = Credential::from_json(&entry("person", 10)).unwrap();
        now_or_never(replaced.upsert(profile("p"), login, at(0))).unwrap();
    });
    endpoint.then(Some(before), renewed("new", 3_600));
    let error = ask(&*store, &endpoint, &host, Demand::Usable).await.unwrap_err();
    assert_eq!(error.code(), "refresh_not_persisted");
    assert_eq!(
        store
            .stored_login(&profile("p"))
            .unwrap()
            .access
            .unwrap()
            .expose(),
        "person-access"
    );
}

#[tokio::test]
async fn o11_bl_72_a_token_that_another_process_used_is_looked_up_again() {
    for (meanwhile, answers, expected, calls) in [
        // Another process stored a usable one: it is taken.
        (entry("other", 3_600), vec![], Some("other-access"), 1),
        // Another process stored one that has to be refreshed again: once.
        (entry("other", 0), vec![renewed("new", 3_600)], Some("new"), 2),
    ] {
        let (endpoint, host) = (Endpoint::default(), Host::default());
        let store = Arc::new(store(json!({"p": entry("old", 0)})));
        let replaced = Arc::clone(&store);
        let before: SideEffect = Box::new(move || {
            let login = Credential::from_json(&meanwhile).unwrap();
            now_or_never(replaced.upsert(profile("p"), login, at(0))).unwrap();
        });
        endpoint.then(Some(before), refused("Your refresh token has already been used."));
        for answer in answers {
            endpoint.then(None, answer);
        }
        let answer = ask(&*store, &endpoint, &host, Demand::Usable).await;
        assert_eq!((access(&answer), endpoint.sent().len()), (expected, calls));
    }
}

#[tokio::test]
async fn o14_a_used_up_login_is_no_longer_the_one_that_last_worked() {
    for (message, good) in [("refresh_token_reused", 0), ("invalid_grant", 1)] {
        let (endpoint, host) = (Endpoint::answering(refused(message)), Host::default());
        let store = store(json!({"p": entry("old", 0)}));
        let worked = crate::store::conformance::success("p", None, 0);
        store.commit(worked, at(0)).await.unwrap();
        let error = ask(&store, &endpoint, &host, Demand::Usable).await.unwrap_err();
        assert!(error.needs_login());
        assert_eq!(store.snapshot().last_good.len(), good, "{message}");
    }
}

#[test]
fn reasons_of_14() {
    let login = store(json!({"p": entry("old", 0)}))
        .stored_login(&profile("p"))
        .unwrap();
    for (message, code) in [
        ("REFRESH_TOKEN_REUSED (invalid_grant)", "refresh_token_reused"),
        ("error: invalid_grant", "invalid_grant"),
        ("token_invalidated", "token_invalidated"),
        ("Please try signing in again.", "sign_in_again"),
        ("Sign in again", "sign_in_again"),
        ("Invalid refresh token", "invalid_refresh_token"),
        ("the token is expired or revoked", "revoked"),
        ("it was revoked", "revoked"),
        ("Failed to authenticate.", "revoked"),
        ("401 Invalid authentication credentials", "revoked"),
        ("connection reset", "refresh_failed"),
    ] {
        let error = RefreshError::failed(&TokenEndpointError::new(message), &login.provider, &[&login]);
        assert_eq!(error.code(), code, "{message}");
        assert_eq!(error.needs_login(), code != "refresh_failed", "{message}");
    }
}

#[tokio::test]
async fn z6_bl_84_no_token_is_told() {
    let words = "bad old-refresh, old-access of sk-live-0123456789abcdef0123; old-identity is invalid_grant";
    let (endpoint, host) = (Endpoint::answering(refused(words)), Host::default());
    let error = ask(
        &store(json!({"p": entry("old", 0)})),
        &endpoint,
        &host,
        Demand::Usable,
    )
    .await
    .unwrap_err();
    for text in [
        error.to_string(),
        format!("{error:?}"),
        format!("{:?}", TokenEndpointError::new(words)),
    ] {
        for secret in ["old-refresh", "old-access", "old-identity", "0123456789"] {
            assert!(!text.contains(secret), "{text}");
        }
    }
    assert!(error.to_string().contains("invalid_grant"), "{error}");
}

#[tokio::test]
async fn o4_who_waits_for_a_refresh_that_fails_shares_its_failure() {
    for message in ["HTTP 400: invalid_grant", "HTTP 503"] {
        let (endpoint, host) = (Endpoint::answering(refused(message)), Host::default());
        endpoint.then(None, renewed("new", 3_600));
        let store = store(json!({"p": entry("old", 0)}));
        let (_folder, refresher) = refresher(&endpoint, &host);
        let (config, id) = (AuthConfig::default(), profile("p"));
        let ask = || refresher.login(&store, &config, &id, Demand::Usable);
        let (a, b, c, d) = tokio::join!(ask(), ask(), ask(), ask());
        for answer in [a, b, c, d] {
            assert!(answer.unwrap_err().to_string().contains(message));
        }
        assert_eq!(endpoint.sent().len(), 1, "{message}");
        // A later request calls again.
        assert_eq!(access(&ask().await), Some("new"));
    }
}

#[tokio::test]
async fn o4_a_login_that_was_replaced_has_no_share_in_the_old_ones_failure() {
    let (endpoint, host) = (Endpoint::default(), Host::default());
    let one = store(json!({"p": entry("one", 0)}));
    let two = store(json!({"p": entry("two", 0)}));
    endpoint.then(None, refused("invalid_grant"));
    endpoint.then(None, renewed("new", 3_600));
    let (_folder, refresher) = refresher(&endpoint, &host);
    let (config, id) = (AuthConfig::default(), profile("p"));
    let (failed, answer) = tokio::join!(
        refresher.login(&one, &config, &id, Demand::Usable),
        refresher.login(&two, &config, &id, Demand::Usable)
    );
    assert!(failed.is_err());
    assert_eq!(access(&answer), Some("new"));
}

/// What another process does with the same store: it takes the lease, and gives it back after a change.
async fn refused_elsewhere(reason: openclaw_classify::Reason, opens_later: bool) -> (Answer, usize) {
    let (endpoint, host) = (Endpoint::answering(renewed("new", 36_000)), Host::default());
    let store = store(json!({"p": entry("old", 0)}));
    let holder = || "elsewhere".to_owned();
    let lease = LoginChange::Lease { holder: holder() };
    store.change_login(profile("p"), lease, at(0)).await.unwrap();
    let mark = crate::store::conformance::failure("p", reason, None, 0);
    let other = async {
        if opens_later {
            while host.slept.load(Ordering::SeqCst) == 0 {
                tokio::task::yield_now().await;
            }
        }
        let now = (&&host).now();
        store.commit(mark, now).await.unwrap();
        let end = LoginChange::End { holder: holder() };
        store.change_login(profile("p"), end, now).await.unwrap();
    };
    let (answer, ()) = if opens_later {
        tokio::join!(ask(&store, &endpoint, &host, Demand::Usable), other)
    } else {
        other.await;
        (ask(&store, &endpoint, &host, Demand::Usable).await, ())
    };
    (answer, endpoint.sent().len())
}

#[tokio::test]
async fn o4_a_failure_that_another_process_marked_meanwhile_is_not_repeated() {
    use openclaw_classify::Reason;
    for (reason, opens_later, code) in [
        (Reason::AuthPermanent, true, Some("invalid_grant")),
        (Reason::Auth, true, Some("refresh_failed")),
        (Reason::RateLimit, true, None),
        (Reason::AuthPermanent, false, None),
    ] {
        let (answer, calls) = refused_elsewhere(reason, opens_later).await;
        assert_eq!(answer.as_ref().err().map(RefreshError::code), code, "{reason:?}");
        assert_eq!(calls, usize::from(code.is_none()), "{reason:?}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn o6_the_rights_of_a_process_that_died_are_taken_over_at_once() {
    let (endpoint, host) = (Endpoint::answering(renewed("new", 3_600)), Host::default());
    let store = store(json!({"p": entry("old", 0)}));
    let (folder, refresher) = refresher(&endpoint, &host);
    let here = process::holder(0);
    let (_, rest) = here.split_once('-').unwrap();
    let lease = LoginChange::Lease {
        holder: format!("{}-{rest}", u32::MAX),
    };
    store.change_login(profile("p"), lease, at(0)).await.unwrap();
    let name = refresh_lock_name(&"openai".parse().unwrap(), &profile("p"));
    let locks = folder.path().join("locks/oauth-refresh");
    std::fs::create_dir_all(&locks).unwrap();
    let left = json!({"pid": u32::MAX, "createdAt": at(0).to_string(), "starttime": 1}).to_string();
    std::fs::write(locks.join(format!("{name}.lock")), left).unwrap();
    let (config, id) = (AuthConfig::default(), profile("p"));
    let answer = refresher.login(&store, &config, &id, Demand::Usable).await;
    assert_eq!(access(&answer), Some("new"));
    assert_eq!(
        host.slept.load(Ordering::SeqCst),
        0,
        "a dead holder is not waited for"
    );
}
