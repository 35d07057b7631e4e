//! Which reason opens which lane, and the lanes' names.

use super::*;
use crate::testing::{failure, model, on_model};
use jiff::Timestamp;
use openclaw_classify::{Certainty, Owner, RuleId, Scope, Verdict};

/// Every reason: its lane when the signal is scoped, when it is account-wide, and without a known model.
#[rustfmt::skip]
const ROWS: &[(Reason, &str, &str, &str)] = &[
    (Reason::Aborted,         "-",              "-",              "-"),
    (Reason::Auth,            "profile",        "profile",        "profile"),
    (Reason::AuthPermanent,   "auth_permanent", "auth_permanent", "auth_permanent"),
    (Reason::Billing,         "billing",        "billing",        "billing"),
    (Reason::ContentPolicy,   "-",              "-",              "-"),
    (Reason::ContextOverflow, "-",              "-",              "-"),
    (Reason::EmptyResponse,   "-",              "-",              "-"),
    (Reason::Format,          "-",              "-",              "-"),
    (Reason::Local,           "-",              "-",              "-"),
    (Reason::ModelNotFound,   "model:m",        "model:m",        "profile"),
    (Reason::NoErrorDetails,  "-",              "-",              "-"),
    (Reason::Overloaded,      "model:m",        "model:m",        "profile"),
    (Reason::RateLimit,       "model:m",        "profile",        "profile"),
    (Reason::ServerError,     "model:m",        "model:m",        "profile"),
    (Reason::SessionExpired,  "-",              "-",              "-"),
    (Reason::Timeout,         "model:m",        "model:m",        "profile"),
    (Reason::Unclassified,    "-",              "-",              "-"),
    (Reason::Unknown,         "-",              "-",              "-"),
];

/// A refused login cools the profile down, a limit its model, a timeout too when its model is known (F1, M1, M2).
#[test]
fn d4_the_lane_of_every_reason() {
    assert!(
        ROWS.iter().map(|row| row.0).eq(Reason::all()),
        "every reason has a row"
    );
    for (reason, scoped, wide, nameless) in ROWS {
        let lane = |event: &FailureEvent| lane_of(event).map_or("-".to_owned(), |lane| lane.to_string());
        let mut event = failure(*reason);
        assert_eq!(lane(&event), *scoped, "{reason}, scoped");
        assert_eq!(
            lane(&event.clone().account_wide()),
            *wide,
            "{reason}, account-wide"
        );
        event.model = None;
        assert_eq!(lane(&event), *nameless, "{reason}, model unknown");
    }
}

/// A bill or login that is refused for one model leaves the other models of the profile alone.
#[test]
fn f_23_a_refusal_of_one_model_has_that_model_s_lane_and_the_ladder_of_its_reason() {
    for reason in [
        Reason::Auth,
        Reason::AuthPermanent,
        Reason::Billing,
        Reason::RateLimit,
    ] {
        let mut event = failure(reason);
        event.scope = MarkScope::OneModel;
        assert_eq!(
            lane_of(&event).map(|lane| lane.to_string()).as_deref(),
            Some("model:m"),
            "{reason}"
        );
    }
    let config = crate::CooldownConfig::default();
    let mut billing = failure(Reason::Billing);
    billing.scope = MarkScope::OneModel;
    let usage = crate::record_failure(
        crate::ProfileUsage::default(),
        &billing,
        Timestamp::UNIX_EPOCH,
        &config,
    );
    let until: Vec<_> = usage
        .windows
        .iter()
        .map(|(lane, window)| (lane.to_string(), window.until))
        .collect();
    let expected = Timestamp::UNIX_EPOCH + config.billing_backoff(&billing.provider);
    assert_eq!(until, [("model:m".to_owned(), expected)]);
}

#[test]
fn f_23_only_bills_and_logins_narrow_to_one_model() {
    let verdict = |reason, scope| Verdict {
        reason,
        certainty: Certainty::Explicit,
        owner: Owner::Credential,
        scope,
        hint: None,
        rule: RuleId::from_static("any"),
        evidence: None,
    };
    for (reason, scope, expected) in [
        (Reason::Billing, Scope::Model, Some(MarkScope::OneModel)),
        (Reason::Auth, Scope::Model, Some(MarkScope::OneModel)),
        (Reason::AuthPermanent, Scope::Model, Some(MarkScope::OneModel)),
        (Reason::Billing, Scope::Profile, Some(MarkScope::Profile)),
        (Reason::RateLimit, Scope::Model, Some(MarkScope::Model)),
        (Reason::Timeout, Scope::Model, Some(MarkScope::Model)),
        (Reason::Format, Scope::None, None),
    ] {
        assert_eq!(
            MarkScope::of_verdict(&verdict(reason, scope)),
            expected,
            "{reason} {scope}"
        );
    }
}

#[test]
fn d4_names_round_trip_and_a_wrong_one_says_what_to_write() {
    for lane in NAMES
        .iter()
        .map(|(_, lane)| lane.clone())
        .chain([on_model("a/b:c")])
    {
        assert_eq!(lane.to_string().parse(), Ok(lane.clone()));
        let json = serde_json::to_string(&lane).unwrap();
        assert_eq!(serde_json::from_str::<Lane>(&json).unwrap(), lane);
    }
    for wrong in ["", "model:", "model: ", "Billing", "cooldown"] {
        let error = wrong.parse::<Lane>().unwrap_err().to_string();
        assert!(
            error.ends_with("use auth_permanent, billing, blocked, profile or model:<id>"),
            "{error}"
        );
    }
}

#[test]
fn cooldown_5_m3_and_m4_model_ids_are_exact_and_wide_lanes_concern_every_model() {
    for (_, lane) in NAMES {
        assert!(lane.is_profile_wide() && lane.concerns(Some(&model("m"))) && lane.concerns(None));
    }
    let lane = on_model("m");
    assert!(!lane.is_profile_wide() && lane.concerns(None) && lane.concerns(Some(&model("m"))));
    assert!(!lane.concerns(Some(&model("M"))) && !lane.concerns(Some(&model("p/m"))));
}

#[test]
fn c_10_only_two_scopes_reach_a_profile() {
    for (scope, mark) in [
        (Scope::Endpoint, None),
        (Scope::Model, Some(MarkScope::Model)),
        (Scope::None, None),
        (Scope::Profile, Some(MarkScope::Profile)),
    ] {
        assert_eq!(MarkScope::of(scope), mark);
    }
}
