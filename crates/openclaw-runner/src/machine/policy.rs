//! What a failure does to the run, as tables over the reason (A1, R1).

use openclaw_classify::{Certainty, Owner, Reason, RuleId, Verdict};

use crate::request::RunSettings;

/// Where a failure leads once this candidate is done with (A1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Advance {
    /// The caller cancelled: stop without a failure.
    Abort,
    /// The next candidate.
    Next,
    /// The caller, with the original error.
    Surface,
}

/// A1: what advances, and what every model would repeat.
pub(crate) fn advance(verdict: &Verdict, settings: &RunSettings) -> Advance {
    match verdict.reason {
        Reason::Aborted => Advance::Abort,
        Reason::ContentPolicy | Reason::ContextOverflow | Reason::Local => Advance::Surface,
        Reason::Format if is_for_every_model(verdict) && !settings.advance_on_format => Advance::Surface,
        Reason::Unclassified if verdict.rule == RuleId::OWN_GENERIC_TEXT => Advance::Surface,
        Reason::Auth
        | Reason::AuthPermanent
        | Reason::Billing
        | Reason::EmptyResponse
        | Reason::Format
        | Reason::ModelNotFound
        | Reason::NoErrorDetails
        | Reason::Overloaded
        | Reason::RateLimit
        | Reason::ServerError
        | Reason::SessionExpired
        | Reason::Timeout
        | Reason::Unclassified
        | Reason::Unknown => Advance::Next,
    }
}

/// Whether the request is refused for what every model would refuse. A status alone does not say so, and what this model
/// or provider does not take, another one may take (F-24, F-62).
fn is_for_every_model(verdict: &Verdict) -> bool {
    let of_the_request = match verdict.owner {
        Owner::Model | Owner::Network | Owner::Provider => false,
        Owner::Caller | Owner::Content | Owner::Credential | Owner::Us => true,
    };
    of_the_request && verdict.certainty == Certainty::Explicit
}

/// How far credentials rotate inside one candidate (R1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rotation {
    /// Never: another credential would meet the same fault.
    Never,
    /// Up to `overloadedProfileRotations` while another candidate remains.
    UpToOverloadCap,
    /// Up to `rateLimitedProfileRotations` while another candidate remains.
    UpToRateLimitCap,
    /// Through all credentials.
    Unlimited,
}

/// R1 by reason; C2 puts `server_error` in the timeout lane.
pub(crate) fn rotation(reason: Reason) -> Rotation {
    match reason {
        Reason::Auth | Reason::AuthPermanent | Reason::Billing => Rotation::Unlimited,
        Reason::RateLimit => Rotation::UpToRateLimitCap,
        Reason::Overloaded | Reason::ServerError | Reason::Timeout => Rotation::UpToOverloadCap,
        Reason::Aborted
        | Reason::ContentPolicy
        | Reason::ContextOverflow
        | Reason::EmptyResponse
        | Reason::Format
        | Reason::Local
        | Reason::ModelNotFound
        | Reason::NoErrorDetails
        | Reason::SessionExpired
        | Reason::Unclassified
        | Reason::Unknown => Rotation::Never,
    }
}

/// Whether a failed probe uses up the provider's slot for this run (R-4.5c).
pub(crate) fn consumes_slot(reason: Reason) -> bool {
    match reason {
        Reason::Auth
        | Reason::AuthPermanent
        | Reason::Format
        | Reason::ModelNotFound
        | Reason::SessionExpired => false,
        Reason::Aborted
        | Reason::Billing
        | Reason::ContentPolicy
        | Reason::ContextOverflow
        | Reason::EmptyResponse
        | Reason::Local
        | Reason::NoErrorDetails
        | Reason::Overloaded
        | Reason::RateLimit
        | Reason::ServerError
        | Reason::Timeout
        | Reason::Unclassified
        | Reason::Unknown => true,
    }
}

/// Whether no rule recognised the failure, so that it is returned as itself at the end of a chain (A2, R-8.1). Who says
/// outright that it is unknown has recognised it.
pub(crate) fn is_unrecognised(verdict: &Verdict) -> bool {
    verdict.certainty == Certainty::Default
        && matches!(verdict.reason, Reason::Unclassified | Reason::Unknown)
}

/// Whether a wrong login is the failure.
pub(crate) fn is_auth(reason: Reason) -> bool {
    matches!(reason, Reason::Auth | Reason::AuthPermanent)
}

#[cfg(test)]
mod tests;
