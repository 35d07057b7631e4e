//! What each reason does to a run.

use openclaw_classify::Scope;

use super::*;

fn verdict(reason: Reason, certainty: Certainty, rule: &str) -> Verdict {
    let rule = RuleId::new(rule);
    Verdict {
        reason,
        certainty,
        owner: Owner::Content,
        scope: Scope::None,
        hint: None,
        rule,
        evidence: None,
    }
}

#[test]
#[rustfmt::skip]
fn a1_r1_r_4_5c_over_all_reasons() {
    use Rotation::{Never, Unlimited, UpToOverloadCap, UpToRateLimitCap};
    let table = [
        // reason                  A1               R1                 R-4.5c
        (Reason::Aborted,         Advance::Abort,   Never,            true),
        (Reason::Auth,            Advance::Next,    Unlimited,        false),
        (Reason::AuthPermanent,   Advance::Next,    Unlimited,        false),
        (Reason::Billing,         Advance::Next,    Unlimited,        true),
        (Reason::ContentPolicy,   Advance::Surface, Never,            true),
        (Reason::ContextOverflow, Advance::Surface, Never,            true),
        (Reason::EmptyResponse,   Advance::Next,    Never,            true),
        (Reason::Format,          Advance::Surface, Never,            false),
        (Reason::Local,           Advance::Surface, Never,            true),
        (Reason::ModelNotFound,   Advance::Next,    Never,            false),
        (Reason::NoErrorDetails,  Advance::Next,    Never,            true),
        (Reason::Overloaded,      Advance::Next,    UpToOverloadCap,  true),
        (Reason::RateLimit,       Advance::Next,    UpToRateLimitCap, true),
        (Reason::ServerError,     Advance::Next,    UpToOverloadCap,  true),
        (Reason::SessionExpired,  Advance::Next,    Never,            false),
        (Reason::Timeout,         Advance::Next,    UpToOverloadCap,  true),
        (Reason::Unclassified,    Advance::Next,    Never,            true),
        (Reason::Unknown,         Advance::Next,    Never,            true),
    ];
    assert_eq!(table.len(), Reason::all().count());
    for (reason, next, turn, slot) in table {
        let settings = RunSettings::default();
        assert_eq!(advance(&verdict(reason, Certainty::Explicit, "any"), &settings), next, "{reason}");
        assert_eq!(rotation(reason), turn, "{reason}");
        assert_eq!(consumes_slot(reason), slot, "{reason}");
    }
}

#[test]
fn a1_a_format_that_only_the_status_says_advances_and_a_setting_lets_all_of_them() {
    let settings = RunSettings::default();
    assert_eq!(
        advance(&verdict(Reason::Format, Certainty::Default, "any"), &settings),
        Advance::Next
    );
    let lenient = RunSettings {
        advance_on_format: true,
        ..settings
    };
    assert_eq!(
        advance(&verdict(Reason::Format, Certainty::Explicit, "any"), &lenient),
        Advance::Next
    );
}

#[test]
fn f_24_f_62_a_refusal_that_is_bound_to_the_model_or_provider_advances() {
    for (owner, expected) in [
        (Owner::Caller, Advance::Surface),
        (Owner::Content, Advance::Surface),
        (Owner::Credential, Advance::Surface),
        (Owner::Model, Advance::Next),
        (Owner::Network, Advance::Next),
        (Owner::Provider, Advance::Next),
        (Owner::Us, Advance::Surface),
    ] {
        let refused = Verdict {
            owner,
            ..verdict(Reason::Format, Certainty::Explicit, "any")
        };
        assert_eq!(advance(&refused, &RunSettings::default()), expected, "{owner}");
    }
}

#[test]
fn a1_our_own_generic_text_surfaces() {
    let own = verdict(
        Reason::Unclassified,
        Certainty::Explicit,
        RuleId::OWN_GENERIC_TEXT.as_str(),
    );
    assert_eq!(advance(&own, &RunSettings::default()), Advance::Surface);
}

#[test]
fn a2_only_what_no_rule_recognised_is_returned_as_itself() {
    let unrecognised = |certainty| -> Vec<_> {
        Reason::all()
            .filter(|reason| is_unrecognised(&verdict(*reason, certainty, "any")))
            .collect()
    };
    assert_eq!(
        unrecognised(Certainty::Default),
        [Reason::Unclassified, Reason::Unknown]
    );
    assert_eq!(unrecognised(Certainty::Explicit), []);
}
