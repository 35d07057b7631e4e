//! Stated ends (D7).

use crate::testing::{DAY, HOUR, MINUTE, SECOND, failure, on_model};
use crate::{Lane, ProfileUsage};
use openclaw_classify::Reason;

#[test]
fn d7_a_scoped_hint_lengthens_the_model_window_and_never_shortens_the_ladder() {
    for (hint, until, stated) in [
        (-MINUTE, 30 * SECOND, false),
        (10 * SECOND, 30 * SECOND, false),
        (30 * SECOND, 30 * SECOND, false),
        (30 * SECOND + 1, 30 * SECOND + 1, true),
        (2 * HOUR, 2 * HOUR, true),
    ] {
        let usage = ProfileUsage::default().failed(0, &failure(Reason::RateLimit).hinting(hint));
        assert_eq!(usage.span(&on_model("m")), Some((0, until)), "hint {hint}");
        assert_eq!(
            usage.windows[&on_model("m")].stated.is_some(),
            stated,
            "hint {hint}"
        );
    }
}

#[test]
fn d7_an_account_wide_hint_opens_the_blocked_window_beside_the_ladder() {
    let event = failure(Reason::RateLimit).account_wide();
    for (hint, blocked) in [
        (30 * SECOND, None),
        (30 * SECOND + 1, Some((0, 30 * SECOND + 1))),
        (5 * DAY, Some((0, 5 * DAY))),
    ] {
        let usage = ProfileUsage::default().failed(0, &event.clone().hinting(hint));
        assert_eq!(usage.span(&Lane::Blocked), blocked, "hint {hint}");
        assert_eq!(usage.span(&Lane::Profile), Some((0, 30 * SECOND)), "hint {hint}");
        assert_eq!(
            usage.steps(&Lane::Blocked),
            0,
            "D5: one episode, counted by the profile's ladder"
        );
    }
}

#[test]
fn d7_a_newer_hint_replaces_the_stated_end_in_both_directions() {
    let scoped = failure(Reason::RateLimit);
    let wide = scoped.clone().account_wide();
    for (event, lane) in [(scoped, on_model("m")), (wide, Lane::Blocked)] {
        for newer in [2 * HOUR, 9 * HOUR] {
            let usage = ProfileUsage::default()
                .failed(0, &event.clone().hinting(5 * HOUR))
                .failed(HOUR, &event.clone().hinting(newer).started(30 * MINUTE));
            assert_eq!(usage.span(&lane), Some((HOUR, newer)), "{lane}");
        }
    }
}

#[test]
fn d7_a_newer_hint_below_the_ladder_leaves_the_ladder() {
    let scoped = failure(Reason::RateLimit);
    let soon = HOUR + 5 * SECOND;
    let usage = ProfileUsage::default()
        .failed(0, &scoped.clone().hinting(5 * HOUR))
        .failed(HOUR, &scoped.clone().hinting(soon).started(HOUR - 1));
    assert_eq!(usage.span(&on_model("m")), Some((HOUR, HOUR + MINUTE)));
    assert_eq!(usage.windows[&on_model("m")].stated, None);

    let wide = scoped.account_wide();
    let usage = ProfileUsage::default()
        .failed(0, &wide.clone().hinting(5 * HOUR))
        .failed(HOUR, &wide.hinting(soon).started(HOUR - 1));
    assert_eq!(usage.span(&Lane::Blocked), None);
    assert_eq!(usage.span(&Lane::Profile), Some((HOUR, HOUR + MINUTE)));
}

#[test]
fn d2_d7_a_hint_of_the_same_episode_changes_nothing() {
    let event = failure(Reason::RateLimit).account_wide();
    for late in [
        event.clone().hinting(HOUR).started(-1),
        event.clone().hinting(HOUR),
    ] {
        let usage = ProfileUsage::default()
            .failed(0, &event.clone().hinting(5 * HOUR))
            .failed(MINUTE, &late);
        assert_eq!(usage.span(&Lane::Blocked), Some((0, 5 * HOUR)));
        assert_eq!(
            usage.steps(&Lane::Profile),
            1,
            "the blocked window is part of the episode"
        );
    }
}

#[test]
fn d7_a_failed_probe_without_a_hint_keeps_the_stated_end() {
    let event = failure(Reason::RateLimit).account_wide();
    let usage = ProfileUsage::default()
        .failed(0, &event.clone().hinting(5 * HOUR))
        .failed(HOUR, &event.started(HOUR - SECOND));
    assert_eq!(usage.span(&Lane::Blocked), Some((0, 5 * HOUR)));
    assert_eq!(usage.span(&Lane::Profile), Some((HOUR, HOUR + MINUTE)));
}

#[test]
fn d7_hints_that_are_not_credible_or_say_nothing_about_the_reason_are_ignored() {
    let mut absurd = failure(Reason::RateLimit).hinting(18 * DAY);
    absurd.hint.as_mut().unwrap().credible = false;
    assert_eq!(
        ProfileUsage::default().failed(0, &absurd).span(&on_model("m")),
        Some((0, 30 * SECOND))
    );
    for (reason, lane, until) in [
        (Reason::Auth, Lane::Profile, 30 * SECOND),
        (Reason::AuthPermanent, Lane::AuthPermanent, 10 * MINUTE),
        (Reason::ModelNotFound, on_model("m"), 30 * SECOND),
    ] {
        let usage = ProfileUsage::default().failed(0, &failure(reason).hinting(DAY));
        assert_eq!(usage.span(&lane), Some((0, until)), "{reason}");
    }
}

#[test]
fn d7_a_bill_with_a_date_waits_for_the_date() {
    let usage = ProfileUsage::default().failed(0, &failure(Reason::Billing).hinting(3 * DAY));
    assert_eq!(usage.span(&Lane::Billing), Some((0, 3 * DAY)));
    let usage = ProfileUsage::default().failed(0, &failure(Reason::Billing).hinting(HOUR));
    assert_eq!(usage.span(&Lane::Billing), Some((0, 5 * HOUR)));
}
