//! Refusals of one model or route of an account, dead accounts, and causes that a general word hides.

use super::{said, verdict};
use crate::rules::Condition;
use crate::text::phrase::{LexiconBuilder, alternatives};
use crate::{Failure, Owner, Reason, Scope, Verdict, describe, observe, rules};

fn check(rows: &[(u16, &str, Reason, Scope)]) {
    let mut wrong = Vec::new();
    for (status, message, reason, scope) in rows {
        let failure = Failure {
            status: Some(*status).filter(|status| *status > 0),
            ..said(message)
        };
        let verdict = verdict(&failure);
        if (verdict.reason, verdict.scope) != (*reason, *scope) {
            wrong.push(format!(
                "{status} {message}: {} {} by {} {:?}",
                verdict.reason, verdict.scope, verdict.rule, verdict.evidence
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn with_body(status: u16, body: &str) -> Failure {
    Failure {
        status: Some(status),
        body: Some(body.as_bytes().to_vec()),
        ..Failure::default()
    }
}

#[test]
fn f_23_a_refusal_of_one_model_has_the_scope_of_the_model() {
    check(&[
        (
            403,
            "This model requires a subscription",
            Reason::Billing,
            Scope::Model,
        ),
        (
            402,
            "This model requires a paid plan. Upgrade to use it.",
            Reason::Billing,
            Scope::Model,
        ),
        (
            403,
            "A subscription is required to use this model",
            Reason::Billing,
            Scope::Model,
        ),
        (
            403,
            "Upgrade your plan to use this model",
            Reason::Billing,
            Scope::Model,
        ),
        (
            403,
            "The free tier of the model has been exhausted. If you wish to continue access the model on a paid basis, please disable the \"use free tier only\" mode",
            Reason::Billing,
            Scope::Model,
        ),
        (
            403,
            "acme.m-5 is not available for this account. You can explore other available models.",
            Reason::ModelNotFound,
            Scope::Model,
        ),
        (
            403,
            "You are not authorized to access this model",
            Reason::Auth,
            Scope::Model,
        ),
        (
            403,
            "API key does not have permission to use this model",
            Reason::Auth,
            Scope::Model,
        ),
        (
            403,
            "Access denied for the requested model",
            Reason::Auth,
            Scope::Model,
        ),
        (
            403,
            "You don't have access to the model with the specified model ID.",
            Reason::ModelNotFound,
            Scope::Model,
        ),
        // The whole account.
        (402, "Insufficient credits", Reason::Billing, Scope::Profile),
        (
            403,
            "Your subscription has expired",
            Reason::Billing,
            Scope::Profile,
        ),
        (
            403,
            "API key does not have permission",
            Reason::Auth,
            Scope::Profile,
        ),
    ]);
    for (body, expected) in [
        (
            r#"{"code":"AllocationQuota.FreeTierOnly","message":"The free tier of the model has been exhausted."}"#,
            Scope::Model,
        ),
        (
            r#"{"error":{"code":"Arrearage","message":"Access denied, please make sure your account is in good standing."}}"#,
            Scope::Profile,
        ),
    ] {
        let verdict = verdict(&with_body(403, body));
        assert_eq!(
            (verdict.reason, verdict.owner, verdict.scope),
            (Reason::Billing, Owner::Credential, expected),
            "{body}"
        );
    }
}

#[test]
fn f_26_the_detail_of_a_problem_comes_before_its_title() {
    let degraded = with_body(
        400,
        r#"{"status":400,"title":"Bad Request","detail":"Function id 'x': DEGRADED function cannot be invoked"}"#,
    );
    assert_eq!(verdict(&degraded).reason, Reason::Overloaded);
    for (body, expected) in [
        (
            r#"{"type":"about:blank","title":"Forbidden","status":403,"detail":"Your key may not use this"}"#,
            "Your key may not use this",
        ),
        (
            r#"{"title":"Bad Request","status":400,"detail":"Function id 'x': DEGRADED function cannot be invoked"}"#,
            "Function id 'x': DEGRADED function cannot be invoked",
        ),
        (r#"{"title":"Not Acceptable"}"#, "Not Acceptable"),
        (
            r#"{"detail":[{"loc":["body","messages"],"msg":"field required","type":"value_error"},{"loc":["body","seed"],"msg":"value is not a valid integer","type":"type_error"}]}"#,
            "body.messages: field required; body.seed: value is not a valid integer",
        ),
        (
            r#"{"title":"Invalid","detail":["first fault","second fault"]}"#,
            "first fault; second fault",
        ),
        (
            r#"{"title":"Invalid","errors":[{"detail":"must be positive","pointer":"/n"},{"detail":"too short","pointer":"/s"}]}"#,
            "/n: must be positive; /s: too short",
        ),
    ] {
        let failure = with_body(422, body);
        assert_eq!(describe(&failure), expected, "{body}");
        assert_eq!(observe(&failure).message.as_deref(), Some(expected), "{body}");
    }
    check(&[
        (503, "no healthy upstream", Reason::Overloaded, Scope::Model),
        (
            400,
            "DEGRADED function cannot be invoked",
            Reason::Overloaded,
            Scope::Model,
        ),
        (503, "No healthy backends", Reason::Overloaded, Scope::Model),
    ]);
}

#[test]
fn f_27_an_account_that_was_disabled_for_a_violation_is_dead() {
    check(&[
        (
            403,
            "Gemini has been disabled in this account for violation of Terms of Service. If you believe this is an error, please contact Google Cloud Support",
            Reason::AuthPermanent,
            Scope::Profile,
        ),
        (
            403,
            "Your access was suspended due to a violation of our terms",
            Reason::AuthPermanent,
            Scope::Profile,
        ),
        (
            403,
            "This service has been disabled for this account because of abuse",
            Reason::AuthPermanent,
            Scope::Profile,
        ),
        (
            403,
            "Your API access has been blocked for violating the Terms of Use.",
            Reason::AuthPermanent,
            Scope::Profile,
        ),
        (
            401,
            "For a violation of our Terms of Service your account has been terminated",
            Reason::AuthPermanent,
            Scope::Profile,
        ),
    ]);
}

#[test]
fn f_28_the_more_specific_of_two_codes_wins() {
    let with_detail = |status: &str, reason: &str| {
        let body = serde_json::json!({"error": {"code": 429, "message": "It did not work.", "status": status, "details": [{"reason": reason}]}});
        verdict(&with_body(429, &body.to_string())).reason
    };
    for (status, reason, expected) in [
        (
            "RESOURCE_EXHAUSTED",
            "MODEL_CAPACITY_EXHAUSTED",
            Reason::Overloaded,
        ),
        ("RESOURCE_EXHAUSTED", "RATE_LIMIT_EXCEEDED", Reason::RateLimit),
        ("RESOURCE_EXHAUSTED", "API_KEY_INVALID", Reason::Auth),
        ("RESOURCE_EXHAUSTED", "INSUFFICIENT_QUOTA", Reason::Billing),
        ("UNAVAILABLE", "MODEL_OVERLOADED", Reason::Overloaded),
        ("PERMISSION_DENIED", "CONSUMER_SUSPENDED", Reason::AuthPermanent),
        ("rate_limit_exceeded", "engine_overloaded", Reason::Overloaded),
        ("THROTTLED", "SERVER_BUSY", Reason::Overloaded),
    ] {
        assert_eq!(with_detail(status, reason), expected, "{status} {reason}");
    }
    check(&[(
        429,
        r#"{"error":{"message":"No capacity available for model m on the server","status":"RESOURCE_EXHAUSTED"}}"#,
        Reason::Overloaded,
        Scope::Model,
    )]);
}

#[test]
fn f_29_a_status_may_be_a_word() {
    for (word, expected) in [
        ("RESOURCE_EXHAUSTED", Reason::RateLimit),
        ("UNAUTHENTICATED", Reason::Auth),
        ("UNAVAILABLE", Reason::Timeout),
        ("DEADLINE_EXCEEDED", Reason::Timeout),
        ("overloaded", Reason::Overloaded),
        ("Too Many Requests", Reason::RateLimit),
        ("Service Unavailable", Reason::ServerError),
        ("Unauthorized", Reason::Auth),
        ("Payment Required", Reason::Billing),
    ] {
        for member in ["status", "statusCode", "http_status", "statusText"] {
            for body in [
                serde_json::json!({member: word}),
                serde_json::json!({"error": {member: word}}),
            ] {
                let failure = Failure {
                    body: Some(body.to_string().into_bytes()),
                    ..Failure::default()
                };
                assert_eq!(
                    verdict(&failure).reason,
                    expected,
                    "{body} by {}",
                    verdict(&failure).rule
                );
            }
        }
    }
}

#[test]
fn f_31_the_stronger_of_two_statements_wins() {
    check(&[
        (
            0,
            "key has been revoked; timed out",
            Reason::AuthPermanent,
            Scope::Profile,
        ),
        (
            0,
            "API key was revoked, request timed out",
            Reason::AuthPermanent,
            Scope::Profile,
        ),
        (
            0,
            "could not validate your credentials",
            Reason::Auth,
            Scope::Profile,
        ),
        (
            401,
            "Could not validate credentials",
            Reason::Auth,
            Scope::Profile,
        ),
        (0, "unable to verify the API key", Reason::Auth, Scope::Profile),
        (
            402,
            "Subscription limit exceeded. Please upgrade to continue.",
            Reason::Billing,
            Scope::Profile,
        ),
        (
            402,
            "You have reached your plan's monthly limit, upgrade your subscription",
            Reason::Billing,
            Scope::Profile,
        ),
        (
            402,
            "weekly usage limit exhausted",
            Reason::RateLimit,
            Scope::Profile,
        ),
        (
            400,
            "INVALID_ARGUMENT: maximum number of tokens is 1048576",
            Reason::ContextOverflow,
            Scope::None,
        ),
        (
            0,
            "INVALID_ARGUMENT: maximum number of input tokens is 200000",
            Reason::ContextOverflow,
            Scope::None,
        ),
    ]);
}

#[test]
fn f_32_watchdogs_of_clients_are_timeouts() {
    check(&[
        (
            0,
            "No first byte from provider in 45s (openai/gpt-5.5)",
            Reason::Timeout,
            Scope::Model,
        ),
        (
            0,
            "No first token received within 30 seconds",
            Reason::Timeout,
            Scope::Model,
        ),
        (0, "no data for 60s", Reason::Timeout, Scope::Model),
        (
            0,
            "No response from the model after 120s",
            Reason::Timeout,
            Scope::Model,
        ),
        (0, "stream idle for 90s, giving up", Reason::Timeout, Scope::Model),
        (
            0,
            "stream stalled: no chunks in 30s",
            Reason::Timeout,
            Scope::Model,
        ),
        (
            0,
            "watchdog: the request hung for 300 seconds",
            Reason::Timeout,
            Scope::Model,
        ),
        (
            0,
            "Provider did not start responding within 60s",
            Reason::Timeout,
            Scope::Model,
        ),
        (
            0,
            "gave up waiting for the provider",
            Reason::Timeout,
            Scope::Model,
        ),
        (
            0,
            "time to first token exceeded 45s",
            Reason::Timeout,
            Scope::Model,
        ),
    ]);
}

#[test]
fn f_33_a_route_of_a_relay_leaves_the_key_alone() {
    check(&[
        (403, "channel disabled", Reason::ServerError, Scope::Model),
        (
            403,
            "The channel has been disabled",
            Reason::ServerError,
            Scope::Model,
        ),
        (
            403,
            "no available channel for model gpt-5",
            Reason::ModelNotFound,
            Scope::Model,
        ),
        (
            503,
            "No available channel for model gpt-5 under group default (distributor)",
            Reason::ModelNotFound,
            Scope::Model,
        ),
        (
            403,
            "all channels are disabled",
            Reason::ServerError,
            Scope::Model,
        ),
        (403, "该渠道已被禁用", Reason::ServerError, Scope::Model),
        (
            403,
            "当前分组 default 下对于模型 gpt-5 无可用渠道",
            Reason::ModelNotFound,
            Scope::Model,
        ),
    ]);
}

/// All texts that a phrase is written for: its readings with a word in each gap.
fn texts(phrase: &str) -> Vec<String> {
    let body = phrase.trim_start_matches('^').trim_end_matches('$');
    let parts = body.split(" .. ").map(|part| {
        let (open_start, open_end) = (part.starts_with('*'), part.ends_with('*'));
        let readings = alternatives(part.trim_matches('*'));
        readings
            .into_iter()
            .map(move |reading| {
                format!(
                    "{}{reading}{}",
                    if open_start { "x" } else { "" },
                    if open_end { "x" } else { "" }
                )
            })
            .collect::<Vec<_>>()
    });
    let joined = parts.reduce(|before, part| {
        let both = before
            .iter()
            .flat_map(|before| part.iter().map(move |part| format!("{before} zzz {part}")));
        both.collect()
    });
    joined.unwrap_or_default()
}

#[test]
fn f_37_every_phrase_of_every_rule_can_match() {
    let mut wrong = Vec::new();
    for rule in rules() {
        let Condition::Phrases(phrases) = rule.condition else {
            continue;
        };
        for phrase in phrases.iter().chain(rule.unless) {
            if phrase
                .split('(')
                .skip(1)
                .any(|group| group.split(')').next().is_some_and(|group| group.contains("..")))
            {
                wrong.push(format!("{}: {phrase}: a gap inside a group", rule.id));
            }
        }
        for phrase in phrases.iter().chain(rule.unless) {
            let mut builder = LexiconBuilder::default();
            let compiled = builder.phrase(phrase);
            let lexicon = builder.build();
            let all = texts(phrase);
            let dead = all
                .iter()
                .filter(|text| lexicon.scan(text).find(&compiled).is_none());
            wrong.extend(
                dead.map(|text| format!("{}: {phrase}: not found in `{text}`", rule.id))
                    .take(1),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Changes of a text that are none of its meaning.
fn variants(text: &str) -> Vec<String> {
    let title = |text: &str| {
        let words = text.split(' ').map(|word| {
            let mut chars = word.chars();
            chars.next().map_or(String::new(), |first| {
                first
                    .to_uppercase()
                    .chain(chars.flat_map(char::to_lowercase))
                    .collect()
            })
        });
        words.collect::<Vec<String>>().join(" ")
    };
    vec![
        text.to_uppercase(),
        text.to_lowercase(),
        title(text),
        text.replace('\'', "’"),
        format!("Error: {text}"),
        format!("ERROR: {text}"),
        format!("Upstream said:\n{text}"),
        serde_json::json!({"error": {"message": text}}).to_string(),
        serde_json::json!({"error": {"message": text.to_uppercase()}}).to_string(),
        serde_json::json!({"ERROR": {"MESSAGE": text}}).to_string(),
    ]
}

#[test]
fn f_30_casing_quoting_prefixes_and_wrappers_never_change_a_verdict() {
    let key = |verdict: &Verdict| (verdict.reason, verdict.owner, verdict.scope);
    let mut wrong = Vec::new();
    for rule in rules() {
        let example = rule.example.failure();
        let plain = verdict(&example);
        let mut changed: Vec<Failure> = Vec::new();
        if let Some(message) = example
            .message
            .as_deref()
            .filter(|message| !message.contains('{'))
        {
            let anchored = matches!(rule.condition, Condition::Phrases(phrases) if phrases.iter().any(|phrase| phrase.starts_with('^')));
            let all = variants(message);
            let kept = if anchored { &all[..4] } else { &all[..] };
            changed.extend(kept.iter().map(|text| Failure {
                message: Some(text.clone()),
                ..example.clone()
            }));
        }
        if let Some(code) = example.code.as_deref() {
            for code in [
                code.to_uppercase(),
                code.to_lowercase(),
                code.replace('_', "-"),
                code.replace('_', ""),
            ] {
                changed.push(Failure {
                    code: Some(code.clone()),
                    ..example.clone()
                });
                let body = serde_json::json!({"error": {"code": code}}).to_string();
                changed.push(Failure {
                    code: None,
                    body: Some(body.into_bytes()),
                    ..example.clone()
                });
            }
        }
        for failure in changed {
            let other = verdict(&failure);
            if key(&other) != key(&plain) {
                wrong.push(format!(
                    "{}: {:?} {:?} {:?}: {} by {}",
                    rule.id,
                    failure.message,
                    failure.code,
                    failure.body.as_deref().map(String::from_utf8_lossy),
                    other.reason,
                    other.rule
                ));
            }
        }
    }
    for text in [
        "SELF-SIGNED CERTIFICATE IN CERTIFICATE CHAIN",
        "self-signed certificate in certificate chain",
        "Self-Signed Certificate in certificate chain",
    ] {
        assert_eq!(
            key(&verdict(&said(text))),
            (Reason::Timeout, Owner::Network, Scope::Endpoint),
            "{text}"
        );
    }
    assert!(wrong.is_empty(), "{} changed:\n{}", wrong.len(), wrong.join("\n"));
}
