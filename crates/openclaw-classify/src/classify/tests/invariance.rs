//! Changes of a message that must not change its reason, and texts that must not match any rule.

use super::corpora::{fixture, wordings};
use super::{reason, said, under, verdict};
use crate::rules::Condition;
use crate::{Certainty, Failure, Reason, describe, observe, observed_tokens, preview, redact, rules};

/// A message, and one of the wrappers of BL-24 around it.
fn wrap(kind: usize, message: &str) -> String {
    let json = serde_json::json!({"error": {"message": message}});
    match kind {
        0 => json.to_string(),
        1 => serde_json::to_string_pretty(&json).unwrap(),
        2 => serde_json::json!({"error": {"message": json.to_string()}}).to_string(),
        3 => serde_json::json!([json]).to_string(),
        4 => format!("Error: {json}\n"),
        5 => format!("data: {json}\n\ndata: [DONE]\n"),
        6 => format!("CLI 1.2 · {json}"),
        7 => serde_json::json!({"errors": [message]}).to_string(),
        8 => {
            let text = json.to_string();
            text[..text.len() - 2].to_owned()
        }
        9 => format!(
            "{{'error': {{'message': {}, 'param': None}}}}",
            serde_json::json!(message)
        ),
        _ => message.replace(' ', "\n  "),
    }
}

/// The same failure with another message.
fn with_message(failure: &Failure, message: String) -> Failure {
    Failure {
        message: Some(message),
        ..failure.clone()
    }
}

/// Checks that every text, real or invented, that a rule recognises keeps its reason when `change` is applied to it.
fn keeps_reason(name: &str, change: impl Fn(&str) -> String) {
    let mut wrong = Vec::new();
    for (failure, _) in wordings().into_iter().chain(fixture()) {
        let message = failure.message.clone().unwrap_or_default();
        let plain = verdict(&failure);
        // Keys of an object and tags of a page must keep their spelling.
        if plain.certainty == Certainty::Default || message.contains(['{', '<', '[']) {
            continue;
        }
        let changed = change(&message);
        let other = verdict(&with_message(&failure, changed.clone()));
        if other.reason != plain.reason {
            wrong.push(format!(
                "{changed}: {} by {}, was {} by {}",
                other.reason, other.rule, plain.reason, plain.rule
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{name} changed {}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn bl_24_wrappers_keep_the_reason() {
    for kind in 0..11 {
        keeps_reason(&format!("wrapper {kind}"), |message| wrap(kind, message));
    }
}

#[test]
fn bl_24_request_ids_keep_the_reason() {
    for id in [
        "req_5429bc401",
        "0217-4030-402",
        "a1b2c3d4-0429-4503-8402-0123456789ab",
    ] {
        keeps_reason("a request id behind", |message| {
            format!("{message} (request id: {id})")
        });
        keeps_reason("a request id in front", |message| {
            format!("[request_id={id}] {message}")
        });
    }
}

#[test]
fn c_2_3_casing_blanks_and_quotes_keep_the_reason() {
    keeps_reason("upper case", str::to_uppercase);
    keeps_reason("lower case", str::to_lowercase);
    keeps_reason("an apostrophe", |message| message.replace('\'', "’"));
    keeps_reason("wide blanks", |message| message.replace(' ', "\u{a0} "));
    keeps_reason("hard wraps", |message| message.replace(' ', "\n"));
}

fn matches_nothing(text: &str) {
    let verdict = verdict(&said(text));
    let evidence = verdict.evidence;
    assert_eq!(
        verdict.certainty,
        Certainty::Default,
        "{text}: {} matched {evidence:?}",
        verdict.rule
    );
}

/// The messages of the examples, which must not match inside names, links and quotations.
fn sentences() -> impl Iterator<Item = (&'static str, Reason)> {
    rules()
        .filter(|rule| matches!(rule.condition, Condition::Phrases(_)) && rule.families.is_empty())
        .map(|rule| (rule.example.message, rule.then))
        .filter(|(message, _)| message.is_ascii())
}

#[test]
fn c_5_links_files_and_quoted_prompts_match_nothing() {
    let slug = |message: &str, joint: &str| {
        let words = message.split(|c: char| !c.is_ascii_alphanumeric());
        words
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(joint)
            .to_lowercase()
    };
    for (message, _) in sentences() {
        for text in [
            format!(
                "Odd. See https://docs.example.com/errors/{} for more",
                slug(message, "-")
            ),
            format!("Odd. See https://docs.example.com/?q={}", slug(message, "+")),
            format!("could not read src/{}.rs", slug(message, "_")),
            format!("could not read ./notes/{}.md at all", slug(message, "-")),
            format!("the prompt \"{message}\" was odd"),
            format!("the prompt “{message}” was odd"),
            format!("my model acme/{}-7b was odd", slug(message, "-")),
        ] {
            matches_nothing(&text);
        }
    }
}

#[test]
fn c_5_negations_match_nothing() {
    for thing in [
        "rate limit",
        "usage limit",
        "billing error: x",
        "timeout",
        "context overflow",
        "invalid api key",
        "payment required",
        "content policy matter",
    ] {
        for text in [
            format!("this is not a {thing}"),
            format!("this is not your {thing}"),
            format!("it failed, though not because of {thing}"),
            format!("it isn't a {thing}"),
            format!("it isn’t a {thing}"),
            format!("it was never a {thing}"),
            format!("without {thing} it would work"),
            format!("something odd rather than {thing}"),
        ] {
            matches_nothing(&text);
        }
    }
}

#[test]
fn c_1_4_bad_input_has_a_verdict() {
    let megabytes = |piece: &[u8]| piece.repeat(10 * 1024 * 1024 / piece.len());
    let lone = br#"{"error":{"message":"Too many requests \ud83d","code":"\udc00\u0000"}}"#;
    for (name, body, expected) in [
        ("10 MB of prose", megabytes(b"lorem ipsum "), Reason::RateLimit),
        ("10 MB of brackets", megabytes(b"[{\"a\":"), Reason::RateLimit),
        (
            "10 MB of no text",
            megabytes(b"\xff\xfe\x00\x80"),
            Reason::RateLimit,
        ),
        ("10 MB of a page", megabytes(b"<p>odd</p>"), Reason::RateLimit),
        ("10 000 deep lists", b"[".repeat(10_000), Reason::RateLimit),
        (
            "10 000 deep objects",
            b"{\"error\":".repeat(10_000),
            Reason::RateLimit,
        ),
        (
            "10 000 deep texts",
            b"{\"error\":\"{\\\"error\\\":".repeat(10_000),
            Reason::RateLimit,
        ),
        ("lone surrogates", lone.to_vec(), Reason::RateLimit),
        (
            "NUL",
            b"\0\0{\"error\":{\"message\":\"Insufficient\0 credits\"}}\0".to_vec(),
            Reason::Billing,
        ),
        (
            "NUL around words",
            b"\0\0Insufficient credits\0\0".to_vec(),
            Reason::Billing,
        ),
        (
            "no text around words",
            b"\xc3\x28 Insufficient credits \xa0\xa1".to_vec(),
            Reason::Billing,
        ),
    ] {
        let failure = Failure {
            status: Some(429),
            body: Some(body),
            ..Failure::default()
        };
        assert_eq!(reason(&failure), expected, "{name}");
        observe(&failure);
        observed_tokens(&failure);
        let text = describe(&failure);
        assert!(preview(&text, 200).encode_utf16().count() <= 201, "{name}");
        redact(&text[..text.len().min(4096)].replace('\u{FFFD}', "?"));
    }
}

#[test]
fn c_1_4_ten_thousand_causes_are_no_deeper_than_their_limit() {
    let mut failure = under(400, "Bad request");
    for _ in 0..10_000 {
        failure = Failure {
            cause: Some(Box::new(failure)),
            ..said("Request failed")
        };
    }
    assert_eq!(reason(&failure), Reason::Timeout);
    // Dropping it level by level keeps the stack flat.
    while let Some(cause) = failure.cause.take() {
        failure = *cause;
    }
}
