//! Tests of the rule tables themselves.

use std::collections::BTreeMap;

use super::{reason, under, verdict};
use crate::engine::WRAPPERS;
use crate::rules::Condition;
use crate::text::phrase::alternatives;
use crate::{Certainty, Failure, Reason, RuleId, Scope, rules};

#[test]
fn c_1_3_rule_ids_are_unique() {
    let mut seen = BTreeMap::new();
    for rule in rules() {
        assert!(
            seen.insert(rule.id, rule.then).is_none(),
            "{} is used twice",
            rule.id
        );
    }
}

#[test]
fn c_1_3_rules_that_are_named_elsewhere_exist() {
    let named = [RuleId::OWN_GENERIC_TEXT, RuleId::REQUEST_OVER_LIMIT];
    for id in WRAPPERS.iter().chain(&named) {
        assert!(rules().any(|rule| rule.rule_id() == *id), "{id}");
    }
}

#[test]
fn c_1_3_every_example_is_claimed_by_its_own_row() {
    for rule in rules() {
        let failure = rule.example.failure();
        let verdict = verdict(&failure);
        assert_eq!(
            verdict.rule,
            rule.rule_id(),
            "{failure:?} matched {:?}",
            verdict.evidence
        );
        assert_eq!(verdict.reason, rule.then, "{}", rule.id);
    }
}

#[test]
fn c_4_no_code_stands_in_two_rows_for_the_same_providers() {
    let mut seen = BTreeMap::new();
    for rule in rules() {
        if let Condition::Codes(codes) = rule.condition {
            for code in codes {
                let key = (*code, format!("{:?}", rule.families));
                if let Some(other) = seen.insert(key, rule.id) {
                    panic!("{code} stands in {other} and in {}", rule.id);
                }
            }
        }
    }
}

#[test]
fn c_2_3_tables_are_written_in_normal_form() {
    for rule in rules() {
        match rule.condition {
            Condition::Codes(codes) => {
                for code in codes {
                    assert_eq!(crate::text::normal::code_key(code), *code, "{}", rule.id);
                }
            }
            Condition::Phrases(phrases) => {
                for phrase in phrases.iter().chain(rule.unless) {
                    assert!(!phrase.contains(['_', '-', '’', '\n']), "{}: {phrase}", rule.id);
                    assert_eq!(phrase.to_lowercase(), *phrase, "{}", rule.id);
                    assert!(!phrase.contains("  "), "{}: {phrase}", rule.id);
                    assert_eq!(
                        phrase.matches('(').count(),
                        phrase.matches(')').count(),
                        "{}: {phrase}",
                        rule.id
                    );
                }
            }
            Condition::Any | Condition::Empty | Condition::Transports(_) => {}
        }
    }
}

/// All readings of a phrase, each without alternatives.
fn readings(phrase: &str) -> Vec<String> {
    let parts = phrase.split(" .. ").map(alternatives);
    let joined = parts.reduce(|before, part| {
        let both = before
            .iter()
            .flat_map(|before| part.iter().map(move |part| format!("{before} .. {part}")));
        both.collect()
    });
    joined.unwrap_or_default()
}

#[test]
fn c_5_every_phrase_adds_a_reading_to_its_row() {
    let mut dead = Vec::new();
    for rule in rules() {
        let Condition::Phrases(phrases) = rule.condition else {
            continue;
        };
        let of_phrase: Vec<Vec<String>> = phrases.iter().map(|phrase| readings(phrase)).collect();
        let mut times: BTreeMap<&str, usize> = BTreeMap::new();
        for reading in of_phrase.iter().flatten() {
            *times.entry(reading).or_default() += 1;
        }
        for (phrase, readings) in phrases.iter().zip(&of_phrase) {
            let adds = readings.iter().any(|reading| times[reading.as_str()] == 1);
            if !adds {
                dead.push(format!("{}: {phrase}", rule.id));
            }
        }
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

#[test]
fn c_7_every_status_has_a_default() {
    let mut ranges: Vec<(u16, u16, String)> = Vec::new();
    for status in 100..600 {
        let bare = verdict(&Failure {
            status: Some(status),
            ..Failure::default()
        });
        let odd = verdict(&under(status, "Something odd happened"));
        assert_eq!(odd.certainty, Certainty::Default, "{status}");
        let line = format!(
            "bare {} ({}), opaque text {} ({}), {:?} {:?}",
            bare.reason, bare.rule, odd.reason, odd.rule, odd.owner, odd.scope
        )
        .to_lowercase();
        match ranges.last_mut() {
            Some((_, to, last)) if *last == line => *to = status,
            _ => ranges.push((status, status, line)),
        }
    }
    let lines: Vec<String> = ranges
        .iter()
        .map(|(from, to, line)| format!("{from}-{to}: {line}"))
        .collect();
    insta::assert_snapshot!("status_defaults", lines.join("\n"));
}

#[test]
fn bl_09_every_5xx_is_a_timeout_server_error_or_overload() {
    for status in 500..600 {
        for body in [
            "",
            "{\"error\":{\"message\":\"boom\"}}",
            "<html><body>oops</body></html>",
        ] {
            let failure = Failure {
                status: Some(status),
                body: Some(body.as_bytes().to_vec()),
                ..Failure::default()
            };
            let reason = reason(&failure);
            assert!(
                matches!(reason, Reason::Timeout | Reason::ServerError | Reason::Overloaded),
                "{status} {body} {reason}"
            );
        }
    }
}

#[test]
fn bl_10_unlisted_4xx_cool_down_nothing() {
    for status in
        (402..500).filter(|status| !matches!(status, 402..=404 | 407 | 408 | 410 | 413 | 422 | 429 | 499))
    {
        let verdict = verdict(&under(status, "opaque"));
        assert_eq!(verdict.reason, Reason::Unclassified, "{status}");
        assert_eq!(verdict.scope, Scope::None, "{status}");
    }
}
