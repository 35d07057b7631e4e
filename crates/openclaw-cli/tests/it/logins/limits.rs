//! Accounts that are asked about their limits after a failure (cooldown.md 8).

use std::time::Duration;

use super::*;

/// Until when a profile rests, in Unix milliseconds, as soon as it does so for longer than the shortest window.
async fn rests_until(world: &World, id: &str) -> i64 {
    let store = store(world.state.path());
    for _ in 0..1_000 {
        store.refresh().unwrap();
        let now = SystemClock.now();
        let block = store.snapshot().usage(&profile(id)).block(None, now);
        let end = block.map(|block| block.until.as_millisecond());
        if let Some(end) = end.filter(|end| end - now.as_millisecond() > 60_000) {
            return end;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the profile does not rest");
}

#[tokio::test]
async fn cooldown_8_3_an_account_is_asked_about_its_limits_and_no_request_waits() {
    let limited = refusal(429, "rate_limit_exceeded", "Rate limit reached");
    let usage = json!({"plan_type": "plus", "rate_limit": {"allowed": false, "limit_reached": true,
        "primary_window": {"used_percent": 100, "reset_after_seconds": 7_200}}});
    let asked = Script::json(200, &usage.to_string()).after_a_while();
    let world = world("openai", 3_600, [limited, renewed(), asked]).await;
    let received = respond(&world).await;
    assert_eq!(
        received.status, 429,
        "the answer is there while the account is still being asked"
    );
    world.upstreams[2].asked().await;
    let seen = world.upstreams[2].seen();
    for (header, value) in [
        ("authorization", "Bearer access-old"),
        ("chatgpt-account-id", "acc-1"),
        ("originator", "openclaw"),
        ("accept", "application/json"),
    ] {
        assert_eq!(seen[0].header(header), Some(value));
    }
    world.upstreams[2].go_on();
    let end = rests_until(&world, "openai:me").await;
    let minutes = (end - SystemClock.now().as_millisecond()) / 60_000;
    assert!((118..=120).contains(&minutes), "{minutes}");
    assert_eq!(world.calls(), [1, 0, 1]);
}

#[tokio::test]
async fn cooldown_8_2_an_end_that_the_failure_states_needs_no_question() {
    let at = later(7_200) / 1_000;
    for body in [
        json!({"error": {"type": "usage_limit_reached", "message": "The usage limit has been reached", "resets_at": at}}),
        json!({"error": {"message": "Too many requests", "rate_limits": {"primary": {"used_percent": 100, "resets_at": at}}}}),
    ] {
        let api = Script::json(429, &body.to_string());
        let world = world("openai", 3_600, [api, renewed(), hello()]).await;
        assert_eq!(respond(&world).await.status, 429);
        let end = rests_until(&world, "openai:me").await;
        assert!((end / 1_000 - at).abs() <= 1, "{body}");
        assert_eq!(world.calls(), [1, 0, 0], "{body}");
    }
}
