//! Which reason opens which lane, and the lanes' names.

use super::*;
use crate::testing::{failure, model, on_model};
use openclaw_classify::Scope;

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
