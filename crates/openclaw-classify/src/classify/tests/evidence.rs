//! The kinds of evidence, and which outranks which.

use super::{provider, reason, said, under, verdict};
use crate::{
    AbortedBy, Failure, Header, Owner, Phase, Reason, Scope, TimeoutPhase, TimerOwner, Transport, classify,
};

/// One sentence for each family, in the order of C-3 step 4.
#[rustfmt::skip]
const ORDER: &[(&str, Reason)] = &[
    ("image exceeds 5 MB maximum", Reason::Format),
    ("No conversation found with that id", Reason::SessionExpired),
    ("The model foo does not exist", Reason::ModelNotFound),
    ("Insufficient credits", Reason::Billing),
    ("The prompt is too long", Reason::ContextOverflow),
    ("Weekly limit reached", Reason::RateLimit),
    ("The engine is overloaded", Reason::Overloaded),
    ("This organization has been disabled", Reason::AuthPermanent),
    ("Incorrect API key provided", Reason::Auth),
    ("Roles must alternate", Reason::Format),
    ("Connection reset by peer", Reason::Timeout),
];

#[test]
fn c_3_the_earlier_family_wins_in_both_orders() {
    for (at, (stronger, expected)) in ORDER.iter().enumerate() {
        for (weaker, reason) in &ORDER[at + 1..] {
            // Beside words about a login, the expired session is the login (BL-12).
            if (*expected, *reason) == (Reason::SessionExpired, Reason::Auth) {
                continue;
            }
            for text in [format!("{stronger}. {weaker}."), format!("{weaker}. {stronger}.")] {
                let verdict = verdict(&said(&text));
                assert_eq!(verdict.reason, *expected, "{text} by {}", verdict.rule);
            }
        }
    }
}

/// C1: explicit text decides, not the status beside it.
#[test]
fn c_3_a_status_never_outranks_explicit_text() {
    for (text, expected) in ORDER {
        for status in [400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 503, 529] {
            let verdict = verdict(&under(status, text));
            assert_eq!(verdict.reason, *expected, "{status} {text} by {}", verdict.rule);
        }
    }
}

#[test]
fn c_3_catch_all_codes_rank_behind_text() {
    for code in [
        "server_error",
        "api_error",
        "INTERNAL",
        "UNAVAILABLE",
        "invalid_request_error",
        "rate_limit_error",
    ] {
        let failure = |message: &str| Failure {
            code: Some(code.to_owned()),
            ..said(message)
        };
        assert_eq!(
            reason(&failure("Insufficient credits")),
            Reason::Billing,
            "{code}"
        );
        assert_ne!(
            reason(&failure("Something odd happened")),
            Reason::Unclassified,
            "{code}"
        );
    }
}

#[test]
fn c_8_what_402_means() {
    for (text, expected) in [
        ("", Reason::Billing),
        ("payment needed somehow", Reason::Billing),
        ("weekly usage limit exhausted", Reason::RateLimit),
        ("daily limit reached, resets tomorrow", Reason::RateLimit),
        ("monthly limit hit, try again later", Reason::RateLimit),
        ("organization spending limit exceeded", Reason::RateLimit),
        ("workspace spend limit reached", Reason::RateLimit),
        (
            "subscription quota exhausted, automatic quota refresh in 3 hours",
            Reason::RateLimit,
        ),
        (
            "weekly usage limit exhausted, please top up your balance",
            Reason::Billing,
        ),
        (
            "insufficient balance, try again after you recharge",
            Reason::Billing,
        ),
        ("out of credits, resets on Monday", Reason::Billing),
    ] {
        assert_eq!(reason(&under(402, text)), expected, "{text}");
    }
}

#[test]
fn c_2_4_bl_20_the_bill_of_an_upstream_is_not_ours() {
    for text in [
        r#"{"error":{"message":"Error from provider: Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"suspended due to insufficient balance, please recharge\"}}"}}}"#,
        "Error from provider: insufficient balance",
        "All variants failed: invalid api key",
        r#"{"error":{"message":"Provider returned error","code":402,"metadata":{"raw":"{\"error\":{\"message\":\"Insufficient Balance\"}}"}}}"#,
        r#"{"error":{"message":"Upstream said no","metadata":{"raw":"Incorrect API key provided"}}}"#,
        "Error from provider (acme): Your credit balance is too low",
        "All variants failed: account has been suspended",
    ] {
        let verdict = verdict(&said(text));
        assert_eq!(
            (
                verdict.reason,
                verdict.owner,
                verdict.scope,
                verdict.rule.as_str()
            ),
            (
                Reason::ServerError,
                Owner::Provider,
                Scope::Model,
                "upstream.account"
            ),
            "{text}"
        );
    }
}

#[test]
fn c_2_4_a_wrapper_s_own_words_outrank_what_it_quotes() {
    let text = r#"{"error":{"message":"Insufficient credits","metadata":{"raw":"Too many requests"}}}"#;
    assert_eq!(reason(&said(text)), Reason::Billing);
    let quoted = r#"{"error":{"message":"Upstream said no","metadata":{"raw":"Weekly limit reached"}}}"#;
    let verdict = verdict(&said(quoted));
    assert_eq!((verdict.reason, verdict.scope), (Reason::RateLimit, Scope::Model));
}

/// Provider, status, message, expected reason (C-6).
#[rustfmt::skip]
const BY_PROVIDER: &[(&str, u16, &str, Reason)] = &[
    ("openrouter", 403, "Key limit exceeded (total limit)", Reason::Billing),
    ("openrouter", 403, "API key budget limit exceeded", Reason::Billing),
    ("openrouter", 402, r#"{"error":{"message":"Too much in flight","metadata":{"limit_source":"openrouter_in_flight_budget"}}}"#, Reason::RateLimit),
    ("openrouter", 403, "acme/m requires moderation. Your input was flagged", Reason::ContentPolicy),
    ("openrouter", 200, "Provider returned error", Reason::Timeout),
    ("minimax", 500, r#"{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}"#, Reason::Billing),
    ("dashscope", 400, r#"{"code":"Arrearage","message":"Access denied"}"#, Reason::Billing),
    ("dashscope", 429, r#"{"code":"Throttling.AllocationQuota","message":"Wait"}"#, Reason::RateLimit),
    ("moonshot", 429, "Your account is suspended due to insufficient balance", Reason::Billing),
    ("kimi-coding", 403, "You've reached your usage limit for this billing cycle", Reason::RateLimit),
    ("xai", 403, "Your team has used all available credits", Reason::Billing),
    ("google", 400, r#"{"error":{"status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#, Reason::Auth),
    ("google", 403, r#"{"error":{"status":"PERMISSION_DENIED","details":[{"reason":"CONSUMER_SUSPENDED"}]}}"#, Reason::AuthPermanent),
    ("google", 403, r#"{"error":{"status":"PERMISSION_DENIED","details":[{"reason":"SERVICE_DISABLED"}]}}"#, Reason::Auth),
    ("google", 400, r#"{"error":{"status":"FAILED_PRECONDITION","message":"User location is not supported for the API use."}}"#, Reason::Auth),
    ("amazon-bedrock", 400, "ModelNotReadyException: wait", Reason::Overloaded),
    ("openai-codex", 429, r#"{"error":{"type":"usage_limit_reached","resets_in_seconds":602705}}"#, Reason::RateLimit),
    ("anthropic", 400, "Your credit balance is too low to access the Anthropic API", Reason::Billing),
    ("anthropic", 529, r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#, Reason::Overloaded),
    ("mistral", 429, r#"{"message":"Service tier capacity exceeded","type":"invalid_request_error"}"#, Reason::Overloaded),
    ("together", 403, "Input token count + max_tokens parameter must be less than the context length", Reason::ContextOverflow),
    ("volcengine", 400, r#"{"error":{"code":"InvalidSubscription"}}"#, Reason::Billing),
    ("cloudflare-workers-ai", 429, "workers_ai: account quota limit exceeded", Reason::RateLimit),
];

#[test]
fn c_6_codes_and_texts_of_single_providers() {
    for (id, status, text, expected) in BY_PROVIDER {
        let failure = Failure {
            provider: provider(id),
            ..under(*status, text)
        };
        let verdict = verdict(&failure);
        assert_eq!(
            verdict.reason, *expected,
            "{id} {status} {text} by {}",
            verdict.rule
        );
    }
}

#[test]
fn c_6_bl_28_a_used_up_subscription_concerns_the_whole_credential() {
    let failure = Failure {
        provider: provider("openai-codex"),
        ..under(
            429,
            r#"{"error":{"type":"usage_limit_reached","resets_in_seconds":60}}"#,
        )
    };
    let verdict = verdict(&failure);
    assert_eq!(verdict.scope, Scope::Profile);
    assert_eq!(verdict.hint.unwrap().at.as_second(), 60);
}

#[test]
fn bl_15_a_request_larger_than_its_budget_is_named() {
    for (requested, rule) in [(14_137, "rate.request-over-limit"), (9_000, "rate.per-time")] {
        let text =
            format!("Request too large on tokens per minute (TPM): Limit 12000, Requested {requested}");
        let verdict = verdict(&under(413, &text));
        assert_eq!(
            (verdict.reason, verdict.rule.as_str()),
            (Reason::RateLimit, rule),
            "{text}"
        );
    }
    let over = verdict(&said(
        "Rate limit reached: Limit 12000, Used 0, Requested 14137. Please try again in 20s",
    ));
    assert_eq!(
        over.evidence.unwrap().matched,
        "Limit 12000, Used 0, Requested 14137"
    );
}

#[test]
fn c_1_1_every_combination_of_facts_is_legal() {
    let whole = Failure {
        provider: provider("openrouter"),
        host: Some("api.z.ai:443".to_owned()),
        status: Some(429),
        code: Some("1302".to_owned()),
        kind: Some("rate_limit_error".to_owned()),
        message: Some("Slow down".to_owned()),
        body: Some(b"\xff{\"error\":{}}".to_vec()),
        headers: vec![Header {
            name: "Retry-After".to_owned(),
            value: "7".to_owned(),
        }],
        transport: Some(Transport::Reset),
        phase: Some(Phase::AfterContent),
        cause: Some(Box::new(said("inner"))),
    };
    for present in 0u32..1 << 11 {
        let has = |bit: u32| present & 1 << bit != 0;
        let failure = Failure {
            provider: whole.provider.clone().filter(|_| has(0)),
            host: whole.host.clone().filter(|_| has(1)),
            status: whole.status.filter(|_| has(2)),
            code: whole.code.clone().filter(|_| has(3)),
            kind: whole.kind.clone().filter(|_| has(4)),
            message: whole.message.clone().filter(|_| has(5)),
            body: whole.body.clone().filter(|_| has(6)),
            headers: if has(7) { whole.headers.clone() } else { Vec::new() },
            transport: whole.transport.filter(|_| has(8)),
            phase: whole.phase.filter(|_| has(9)),
            cause: whole.cause.clone().filter(|_| has(10)),
        };
        let verdict = verdict(&failure);
        assert_eq!(Some(&verdict), classify(&failure, super::NOW).as_ref());
        assert_eq!(verdict.hint.is_some(), has(7), "{failure:?}");
    }
}

#[test]
fn c_3_c_10_aborts_and_own_timeouts_outrank_every_text() {
    for (transport, owner) in [
        (Transport::Aborted(AbortedBy::Caller), Owner::Caller),
        (Transport::Aborted(AbortedBy::Us), Owner::Us),
        (
            Transport::Timeout(TimeoutPhase::Idle, TimerOwner::Caller),
            Owner::Caller,
        ),
    ] {
        for (text, _) in ORDER {
            let failure = Failure {
                transport: Some(transport),
                ..under(429, text)
            };
            let verdict = verdict(&failure);
            assert_eq!((verdict.owner, verdict.scope), (owner, Scope::None), "{text}");
        }
    }
}

#[test]
fn bl_07_a_missing_model_is_one_whatever_the_status() {
    for status in [400, 404, 410, 422] {
        for code in ["model_not_supported", "model_not_found", "model_not_available"] {
            let failure = Failure {
                code: Some(code.to_owned()),
                ..under(status, "Bad request")
            };
            assert_eq!(reason(&failure), Reason::ModelNotFound, "{status} {code}");
        }
        let body = format!(r#"{{"error":{{"message":"invalid value","param":"model","code":{status}}}}}"#);
        assert_eq!(reason(&under(status, &body)), Reason::ModelNotFound, "{body}");
    }
}

#[test]
fn bl_22_reasoning_of_another_account_is_a_format_error_without_cooldown() {
    let failure = Failure {
        code: Some("invalid_encrypted_content".to_owned()),
        ..under(400, "The encrypted content could not be verified")
    };
    let verdict = verdict(&failure);
    assert_eq!((verdict.reason, verdict.scope), (Reason::Format, Scope::None));
}

#[test]
fn bl_39_a_used_up_budget_sent_as_400_is_a_rate_limit() {
    let said = under(
        400,
        "You have reached your specified API usage limits. You will regain access on 2027-01-01 at 00:00 UTC.",
    );
    assert_eq!(reason(&said), Reason::RateLimit);
}

#[test]
fn bl_60_proxy_pages_and_cut_streams_concern_the_endpoint_or_the_server() {
    for (status, text) in [
        (
            Some(502),
            "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>",
        ),
        (None, "terminated"),
        (None, "Request failed"),
        (None, "Stream ended without finish_reason"),
        (None, "stream ended before message_stop"),
        (None, "provider stream ended before completion"),
    ] {
        let failure = Failure { status, ..said(text) };
        assert!(
            matches!(
                reason(&failure),
                Reason::Timeout | Reason::ServerError | Reason::Overloaded
            ),
            "{text}: {:?}",
            reason(&failure)
        );
    }
}
