//! Tests of verdicts through the public functions.

mod accounts;
mod corpora;
mod documentation;
mod evidence;
mod invariance;
mod owner;
mod properties;
mod requests;
mod tables;

use jiff::Timestamp;
use openclaw_ids::ProviderId;

use crate::{Certainty, Failure, Reason, RuleId, Verdict, classify};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn provider(id: &str) -> Option<ProviderId> {
    ProviderId::try_new(id).ok()
}

fn said(message: &str) -> Failure {
    Failure {
        message: Some(message.to_owned()),
        ..Failure::default()
    }
}

fn under(status: u16, message: &str) -> Failure {
    Failure {
        status: Some(status),
        ..said(message)
    }
}

fn verdict(failure: &Failure) -> Verdict {
    classify(failure, NOW).unwrap_or_else(|| panic!("{failure:?} is a failure"))
}

fn reason(failure: &Failure) -> Reason {
    verdict(failure).reason
}

/// Billing errors in the wording of several providers (BL-03, BL-18).
const BILLING: &[&str] = &[
    "Insufficient credits on this account",
    "Your credit balance is too low to access the Anthropic API.",
    "Insufficient Balance",
    "insufficient balance (1008)",
    "余额不足或无可用资源包,请充值。",
    "Your account is past due. Please update your payment method.",
    "You have run out of credits or need a Grok subscription.",
    "This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens, but can only afford 0.",
    "user quota is not enough",
    "Your newly created team doesn't have any credits or licenses yet.",
    "You exceeded your current quota, please check your plan and billing details.",
    "Account acme is suspended, possibly due to failure to pay past invoices.",
];

#[test]
fn bl_03_billing_outranks_every_status() {
    for text in BILLING {
        for status in [0, 400, 401, 402, 403, 404, 429, 500, 503] {
            let failure = Failure {
                status: Some(status).filter(|status| *status > 0),
                ..said(text)
            };
            assert_eq!(reason(&failure), Reason::Billing, "{status} {text}");
        }
    }
}

/// Subject, status (0: none), message, expected reason.
#[rustfmt::skip]
const ROWS: &[(&str, u16, &str, Reason)] = &[
    // BL-01, C-8
    ("402 window", 402, "weekly usage limit exhausted", Reason::RateLimit),
    ("402 window", 402, "daily limit reached, resets tomorrow", Reason::RateLimit),
    ("402 organization", 402, "organization spending limit exceeded", Reason::RateLimit),
    ("402 both", 402, "weekly usage limit exhausted: insufficient credits", Reason::Billing),
    ("402 both", 402, "insufficient credits: weekly usage limit exhausted", Reason::Billing),
    // BL-04
    ("credit, not size", 0, "Prompt tokens limit exceeded: 230799 > 91442. To increase, create a key with a higher monthly limit", Reason::Billing),
    // BL-06
    ("overload under 429", 429, "The engine is currently overloaded, please try again later", Reason::Overloaded),
    // BL-08
    ("straight", 0, "on-demand throughput isn't supported. Retry your request with an inference profile", Reason::ModelNotFound),
    ("typographic", 0, "on-demand throughput isn’t\n  supported. Retry your request with an inference profile", Reason::ModelNotFound),
    // BL-11
    ("cloud token", 0, "An error occurred (ExpiredTokenException) when calling the Converse operation: The security token included in the request is expired", Reason::Auth),
    // BL-12
    ("conversation", 0, "No conversation found with session ID: 1f2e", Reason::SessionExpired),
    ("login", 0, "Failed to authenticate: OAuth session expired and could not be refreshed", Reason::Auth),
    ("in errors[]", 0, r#"{"type":"result","errors":["No conversation found with session ID: 1"]}"#, Reason::SessionExpired),
    // BL-14
    ("overflow", 400, "Your input exceeds the context window of this model.", Reason::ContextOverflow),
    ("overflow", 400, "Input token length too long", Reason::ContextOverflow),
    ("overflow", 500, r#"{"error":"context length exceeded"}"#, Reason::ContextOverflow),
    // BL-15
    ("budget", 413, "Request too large for model `x` on tokens per minute (TPM): Limit 12000, Requested 14137", Reason::RateLimit),
    ("budget", 0, "Too many tokens, please wait before trying again.", Reason::RateLimit),
    // BL-16
    ("capacity", 429, r#"{"message":"Service tier capacity exceeded for this model.","type":"invalid_request_error"}"#, Reason::Overloaded),
    // BL-17
    ("in-band", 200, "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}", Reason::Overloaded),
    ("empty", 200, "", Reason::EmptyResponse),
    // BL-19
    ("window under 403", 403, "You've reached your usage limit for this billing cycle.", Reason::RateLimit),
    // C-2.2
    ("prose", 0, "Row 402 failed", Reason::Unclassified),
    ("$metadata", 0, r#"{"name":"Odd","$metadata":{"httpStatusCode":429}}"#, Reason::RateLimit),
    // C-5: never fooled
    ("negation", 0, "This is not a rate limit, something else is wrong", Reason::Unclassified),
    ("model name", 0, "acme/rate-limit-exceeded-7b answered nonsense", Reason::Unclassified),
    ("parameter", 400, "Unsupported parameter: rate_limit", Reason::Format),
    ("quoted prompt", 400, "The prompt \"why is my api key invalid\" was bad", Reason::Format),
    ("help page", 0, "Odd. See https://example.com/docs/rate-limit", Reason::Unclassified),
    ("count", 400, "max_tokens must be at most 4290", Reason::Format),
    // C-3 step 6
    ("nothing", 0, "", Reason::EmptyResponse),
    ("literal", 0, "Unknown error (no error details in response)", Reason::NoErrorDetails),
    ("own text", 0, "LLM request failed with an unknown error.", Reason::Unclassified),
    // C-5: pages
    ("page under 502", 502, "<html><body>Too many requests</body></html>", Reason::Timeout),
    ("page under 429", 429, "<html><body>You are being rate limited</body></html>", Reason::RateLimit),
];

#[test]
fn verdict_rows() {
    for (name, status, message, expected) in ROWS {
        let failure = Failure {
            status: Some(*status).filter(|status| *status > 0),
            ..said(message)
        };
        let verdict = verdict(&failure);
        assert_eq!(
            verdict.reason, *expected,
            "{name}: {failure:?} by {}",
            verdict.rule
        );
    }
}

/// BL-02 (one code, several providers), BL-13 (Google), BL-21 (OpenRouter).
#[test]
fn c_6_codes_mean_what_their_provider_means() {
    for (id, status, code, expected) in [
        ("openai", 429, "insufficient_quota", Reason::Billing),
        ("unheard-of", 429, "insufficient_quota", Reason::Billing),
        ("dashscope", 429, "insufficient_quota", Reason::RateLimit),
        ("zai", 429, "1302", Reason::RateLimit),
        ("z.ai", 429, "1305", Reason::Overloaded),
        ("zai", 429, "1308", Reason::RateLimit),
        ("zai", 429, "1113", Reason::Billing),
        ("zai", 429, "1311", Reason::Billing),
        ("minimax", 500, "1008", Reason::Billing),
        ("minimax-portal", 429, "2056", Reason::RateLimit),
        (
            "kimi-coding",
            403,
            "exceeded_current_quota_error",
            Reason::Billing,
        ),
        ("google", 400, "API_KEY_INVALID", Reason::Auth),
        ("google", 403, "CONSUMER_SUSPENDED", Reason::AuthPermanent),
        (
            "amazon-bedrock",
            503,
            "ServiceUnavailableException",
            Reason::Overloaded,
        ),
        (
            "openrouter",
            402,
            "openrouter_in_flight_budget",
            Reason::RateLimit,
        ),
    ] {
        let failure = Failure {
            provider: provider(id),
            status: Some(status),
            code: Some(code.to_owned()),
            ..Failure::default()
        };
        assert_eq!(reason(&failure), expected, "{id} {status} {code}");
    }
}

#[test]
fn c_6_a_host_names_the_provider_of_a_custom_id() {
    let failure = Failure {
        provider: provider("my-proxy"),
        host: Some("dashscope-intl.aliyuncs.com".to_owned()),
        code: Some("insufficient_quota".to_owned()),
        status: Some(429),
        ..Failure::default()
    };
    assert_eq!(verdict(&failure).rule, RuleId::from_static("alibaba.throttle"));
}

fn wrapped(levels: usize, inner: Failure) -> Failure {
    (0..levels).fold(inner, |cause, level| Failure {
        cause: Some(Box::new(cause)),
        ..said(&format!("layer {level}"))
    })
}

#[test]
fn bl_32_a_server_that_the_request_names_is_the_fault_of_the_request() {
    for (status, message) in [
        (
            424,
            "Error retrieving tool list from MCP server: 'docs'. Http status code: 401 (Unauthorized)",
        ),
        (
            424,
            "Error retrieving tool list from MCP server: 'docs'. Http status code: 429 (Too Many Requests)",
        ),
        (
            400,
            "Authentication error while communicating with MCP server. Please check your authorization token.",
        ),
        (
            400,
            "Connection error while communicating with MCP server. The server may be unreachable or overloaded.",
        ),
    ] {
        assert_eq!(reason(&under(status, message)), Reason::Format, "{message}");
    }
    let image = Failure {
        code: Some("invalid_image_url".to_owned()),
        ..under(400, "Timeout while downloading https://example.com/a.png.")
    };
    assert_eq!(reason(&image), Reason::Format);
}

#[test]
fn c_2_5_causes_are_walked_to_depth_25() {
    assert_eq!(reason(&wrapped(25, said("Too many requests"))), Reason::RateLimit);
    assert_eq!(
        reason(&wrapped(26, said("Too many requests"))),
        Reason::Unclassified
    );
}

#[test]
fn c_2_5_the_outermost_precise_level_wins() {
    let around = |outer: Failure, inner: Failure| Failure {
        cause: Some(Box::new(inner)),
        ..outer
    };
    for (outer, inner, expected) in [
        (said("overloaded"), said("Too many requests"), Reason::Overloaded),
        (
            under(400, "Bad request"),
            said("Insufficient credits"),
            Reason::Billing,
        ),
        (
            said("LLM request failed"),
            under(404, "nope"),
            Reason::ModelNotFound,
        ),
        (
            said("Request failed"),
            said("Too many requests"),
            Reason::RateLimit,
        ),
        (said(""), under(401, ""), Reason::Auth),
    ] {
        let failure = around(outer, inner);
        assert_eq!(reason(&failure), expected, "{failure:?}");
    }
}

#[test]
fn bl_05_a_warning_is_no_failure() {
    for status in [None, Some(200)] {
        let failure = Failure {
            status,
            ..said(
                r#"{"type":"rate_limit_event","rate_limit_info":{"rateLimitType":"seven_day","utilization":0.87,"status":"allowed_warning","resetsAt":1778835600}}"#,
            )
        };
        assert_eq!(classify(&failure, NOW), None);
    }
}

#[test]
fn bl_05_a_warning_does_not_hide_a_failure_beside_it() {
    let failure = under(
        200,
        concat!(
            "data: {\"type\":\"rate_limit_event\",\"rate_limit_info\":{\"rateLimitType\":\"five_hour\",\"status\":\"allowed\"}}\n\n",
            "data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}",
        ),
    );
    assert_eq!(reason(&failure), Reason::Overloaded);
}

#[test]
fn bl_17_an_error_at_the_end_of_a_long_stream_is_found() {
    let delta = "data: {\"id\":\"x\",\"choices\":[{\"delta\":{\"content\":\"unknown model\"}}]}\n\n";
    let error = "data: {\"error\":{\"code\":502,\"message\":\"Overloaded\"}}\n\n";
    let failure = under(200, &format!("{}{error}", delta.repeat(500)));
    assert_eq!(reason(&failure), Reason::Overloaded);
}

#[test]
fn c_5_content_of_the_model_is_not_read() {
    for body in [
        r#"data: {"id":"x","choices":[{"delta":{"content":"insufficient credits"}}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"rate limit exceeded"}]}}]}"#,
        r#"data: {"type":"content_block_delta","delta":{"text":"invalid api key"}}"#,
    ] {
        let failure = Failure {
            status: Some(200),
            body: Some(body.as_bytes().to_vec()),
            ..Failure::default()
        };
        let verdict = verdict(&failure);
        assert_eq!(verdict.certainty, Certainty::Default, "{body}: {}", verdict.rule);
    }
}

#[test]
fn c_1_4_deep_nesting_and_long_texts_are_judged_on_what_can_be_read() {
    for open in ["[", "{\"error\":", "{\"error\":\"{\\\"error\\\":"] {
        let failure = under(429, &open.repeat(10_000));
        assert_eq!(reason(&failure), Reason::RateLimit);
    }
    let filler = "lorem ipsum ".repeat(20_000);
    assert_eq!(
        reason(&said(&format!("Too many requests {filler}"))),
        Reason::RateLimit
    );
    assert_eq!(
        reason(&said(&format!("{filler} Too many requests"))),
        Reason::RateLimit
    );
    assert_eq!(
        reason(&said(&format!("{filler} Too many requests {filler}"))),
        Reason::Unclassified
    );
}

#[test]
fn c_1_3_evidence_shows_the_field_and_the_words_without_secrets() {
    let failure = Failure {
        body: Some(br#"{"error":{"message":"invalid api key sk-proj-abcdefghijklmnop1234567890"}}"#.to_vec()),
        ..Failure::default()
    };
    let evidence = verdict(&failure).evidence.unwrap();
    assert_eq!(
        (evidence.field, evidence.matched.as_str()),
        ("body", "invalid api key")
    );
}
