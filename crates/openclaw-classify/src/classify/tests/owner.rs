//! Owner and scope of verdicts (classify.md C-10).

use super::{said, verdict};
use crate::{AbortedBy, Failure, Owner, Phase, Reason, Scope, TimeoutPhase, TimerOwner, Transport};

#[test]
fn c_10_owner_and_scope() {
    for (failure, owner, scope) in [
        (
            said("Incorrect API key provided"),
            Owner::Credential,
            Scope::Profile,
        ),
        (said("Insufficient credits"), Owner::Credential, Scope::Profile),
        (
            said("Rate limit reached for model x on tokens per minute"),
            Owner::Credential,
            Scope::Model,
        ),
        (
            said("Weekly limit reached ∙ resets Oct 9 at 5pm"),
            Owner::Credential,
            Scope::Profile,
        ),
        (said("Overloaded"), Owner::Provider, Scope::Model),
        (said("Unknown model: foo"), Owner::Model, Scope::Model),
        (
            said("connect ECONNREFUSED 127.0.0.1:11434"),
            Owner::Network,
            Scope::Endpoint,
        ),
        (said("read ECONNRESET"), Owner::Provider, Scope::Model),
        (
            said("prompt is too long: 5 tokens > 4 maximum"),
            Owner::Content,
            Scope::None,
        ),
        (said("Something odd happened"), Owner::Provider, Scope::None),
    ] {
        let verdict = verdict(&failure);
        assert_eq!(
            (verdict.owner, verdict.scope),
            (owner, scope),
            "{failure:?} by {}",
            verdict.rule
        );
    }
}

/// A timeout before the request was sent does not cool down a profile (cooldown F3).
#[test]
fn c_10_an_unsent_request_concerns_the_endpoint() {
    for (phase, scope) in [
        (Phase::BeforeRequest, Scope::Endpoint),
        (Phase::BeforeFirstByte, Scope::Model),
        (Phase::AfterContent, Scope::Model),
    ] {
        let failure = Failure {
            phase: Some(phase),
            transport: Some(Transport::Timeout(TimeoutPhase::Total, TimerOwner::Us)),
            ..Failure::default()
        };
        assert_eq!(verdict(&failure).scope, scope, "{phase:?}");
    }
}

#[test]
fn c_10_aborts_and_timeouts_of_the_caller_cool_down_nothing() {
    for transport in [
        Transport::Aborted(AbortedBy::Caller),
        Transport::Timeout(TimeoutPhase::Total, TimerOwner::Caller),
        Transport::Timeout(TimeoutPhase::Connect, TimerOwner::Caller),
    ] {
        let failure = Failure {
            transport: Some(transport),
            status: Some(429),
            ..said("Too many requests")
        };
        let verdict = verdict(&failure);
        assert_eq!(
            (verdict.owner, verdict.scope),
            (Owner::Caller, Scope::None),
            "{transport:?}"
        );
    }
}

#[test]
fn c_10_an_abort_by_this_process_is_its_own_fault() {
    let failure = Failure {
        transport: Some(Transport::Aborted(AbortedBy::Us)),
        ..Failure::default()
    };
    let verdict = verdict(&failure);
    assert_eq!(
        (verdict.reason, verdict.owner, verdict.scope),
        (Reason::Aborted, Owner::Us, Scope::None)
    );
}
