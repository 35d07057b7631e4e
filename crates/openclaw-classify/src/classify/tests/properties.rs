//! Properties of all verdicts.

use proptest::prelude::*;

use super::corpora::fixture;
use super::{BILLING, NOW, reason, said, under};
use crate::rule::Saw;
use crate::{Failure, Header, Reason, classify, rules};

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

proptest! {
    #[test]
    fn c_1_4_any_bytes_have_a_verdict(
        body in proptest::collection::vec(any::<u8>(), 0..400),
        message in ".{0,200}",
        code in proptest::option::of(".{0,20}"),
        status in proptest::option::of(any::<u16>()),
        header in ".{0,30}",
    ) {
        let failure = Failure {
            status,
            code,
            message: Some(message),
            body: Some(body),
            headers: vec![Header { name: "retry-after".to_owned(), value: header }],
            ..Failure::default()
        };
        prop_assert_eq!(classify(&failure, NOW), classify(&failure, NOW));
    }

    #[test]
    fn c_1_4_structured_noise_has_a_verdict(text in r#"[{}\[\]"':,\\a-z0-9 ]{0,300}"#) {
        let _ = classify(&said(&text), NOW);
    }

    #[test]
    fn bl_24_wrapping_keeps_the_reason(index in 0usize..64, kind in 0usize..11) {
        let texts: Vec<_> = rules()
            .filter(|rule| matches!(rule.saw, Saw::Phrases(phrases) if !phrases.iter().any(|phrase| phrase.starts_with('^'))))
            .map(|rule| rule.example.failure())
            .collect();
        let plain = &texts[index % texts.len()];
        let wrapped = Failure {
            message: plain.message.as_deref().map(|message| wrap(kind, message)),
            ..plain.clone()
        };
        prop_assert_eq!(reason(&wrapped), reason(plain), "{:?}", wrapped);
    }

    #[test]
    fn c_2_3_casing_quotes_and_request_ids_change_nothing(index in 0usize..256, change in 0usize..4) {
        let rows = fixture();
        let (plain, _) = &rows[index % rows.len()];
        // The text of a body keeps its structure only as it stands.
        prop_assume!(plain.message.as_deref().is_some_and(|message| !message.contains(['{', '<'])));
        let changed = |message: &str| match change {
            0 => message.to_uppercase(),
            1 => message.replace('\'', "’"),
            2 => format!("{message} (request id: req_5429bc401)"),
            _ => message.replace(' ', "\u{a0} "),
        };
        let other = Failure {
            message: plain.message.as_deref().map(changed),
            ..plain.clone()
        };
        prop_assert_eq!(reason(&other), reason(plain), "{:?}", other);
    }

    #[test]
    fn bl_03_money_stays_money_anywhere(text in 0usize..BILLING.len(), status in 400u16..600, before in "[a-z]{0,10}[.:]? ?") {
        let message = format!("{before}{}", BILLING[text]);
        prop_assume!(before.is_empty() || before.ends_with([' ', ':', '.']));
        prop_assume!(!before.starts_with("no"));
        prop_assert_eq!(reason(&under(status, &message)), Reason::Billing);
    }
}
