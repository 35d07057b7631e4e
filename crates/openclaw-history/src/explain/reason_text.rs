//! The explaining text for each failure reason, as one table.

use openclaw_classify::Reason;

/// The words for one reason.
pub(crate) struct ReasonText {
    reason: Reason,
    /// After "failed:".
    pub(crate) failed: &'static str,
    /// After "was skipped:".
    pub(crate) skipped: &'static str,
    /// What a person can do; empty when time heals it.
    pub(crate) remedy: Remedy,
}

/// What a person can do about a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// This.
    Do(&'static str),
    /// Sign in again, by the provider's own command.
    LogIn,
    /// Nothing: it passes by itself.
    Wait,
}

const LATELY: &str = "it failed lately";

#[rustfmt::skip]
const WORDS: [ReasonText; 18] = [
    ReasonText { reason: Reason::Aborted,         failed: "the caller cancelled",                                   skipped: LATELY, remedy: Remedy::Wait },
    ReasonText { reason: Reason::Auth,            failed: "the login was refused",                                  skipped: "its login was refused", remedy: Remedy::LogIn },
    ReasonText { reason: Reason::AuthPermanent,   failed: "the login is dead: revoked, deleted or suspended",       skipped: "its login is dead", remedy: Remedy::LogIn },
    ReasonText { reason: Reason::Billing,         failed: "no credit, no plan, or an unpaid bill",                  skipped: "its account has no credit, no plan, or an unpaid bill", remedy: Remedy::Do("top up, or check the plan that the key belongs to") },
    ReasonText { reason: Reason::ContentPolicy,   failed: "the provider refused the content",                       skipped: LATELY, remedy: Remedy::Do("change what is asked") },
    ReasonText { reason: Reason::ContextOverflow, failed: "the prompt does not fit the model",                      skipped: "the prompt does not fit it", remedy: Remedy::Do("shorten the conversation, or choose a model with a larger window") },
    ReasonText { reason: Reason::EmptyResponse,   failed: "the answer was empty or of no use",                      skipped: LATELY, remedy: Remedy::Wait },
    ReasonText { reason: Reason::Format,          failed: "the provider could not read the request",                skipped: LATELY, remedy: Remedy::Do("look at what the provider says about the request") },
    ReasonText { reason: Reason::Local,           failed: "something failed on this machine",                       skipped: LATELY, remedy: Remedy::Do("look at this machine: a lock, a full disk") },
    ReasonText { reason: Reason::ModelNotFound,   failed: "the provider does not offer this model",                 skipped: "the provider does not offer it", remedy: Remedy::Do("correct the model's name, or take it out of the chain") },
    ReasonText { reason: Reason::NoErrorDetails,  failed: "the provider gave no details",                           skipped: LATELY, remedy: Remedy::Wait },
    ReasonText { reason: Reason::Overloaded,      failed: "the provider is overloaded",                             skipped: "its provider is overloaded", remedy: Remedy::Wait },
    ReasonText { reason: Reason::RateLimit,       failed: "a rate limit was reached",                               skipped: "its credentials are rate limited", remedy: Remedy::Wait },
    ReasonText { reason: Reason::ServerError,     failed: "the provider says that it failed",                       skipped: "its provider failed lately", remedy: Remedy::Wait },
    ReasonText { reason: Reason::SessionExpired,  failed: "the provider's own session is gone",                     skipped: LATELY, remedy: Remedy::Wait },
    ReasonText { reason: Reason::Timeout,         failed: "no answer came: too slow, busy, or cut off",              skipped: "it was too slow, busy or cut off lately", remedy: Remedy::Wait },
    ReasonText { reason: Reason::Unclassified,    failed: "no rule recognised the error",                           skipped: LATELY, remedy: Remedy::Wait },
    ReasonText { reason: Reason::Unknown,         failed: "nothing is known about the error",                       skipped: LATELY, remedy: Remedy::Wait },
];

/// The words for `reason`.
pub(crate) fn words(reason: Reason) -> &'static ReasonText {
    let [.., unknown] = &WORDS;
    WORDS
        .iter()
        .find(|words| words.reason == reason)
        .unwrap_or(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_own_row() {
        for reason in Reason::all() {
            assert_eq!(words(reason).reason, reason);
        }
    }
}
