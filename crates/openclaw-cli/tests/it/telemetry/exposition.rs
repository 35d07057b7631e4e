//! Reads the text that a scrape answers with, as strictly as Prometheus does.

use std::collections::{BTreeMap, BTreeSet};

/// One sample of a scrape.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sample {
    pub(super) name: String,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) value: f64,
}

/// Reads the text format, and panics at what is not of it.
pub(super) fn parse(text: &str) -> Vec<Sample> {
    assert!(text.ends_with('\n'), "the last line has no end");
    let mut types = BTreeMap::new();
    let mut samples: Vec<Sample> = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').expect("a name and a help text");
            assert!(!help.is_empty() && is_name(name), "{line}");
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("a name and a type");
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert!(
                types.insert(name.to_owned(), kind.to_owned()).is_none(),
                "{name} twice"
            );
        } else {
            samples.push(sample(line));
        }
    }
    for sample in &samples {
        let base = ["_bucket", "_sum", "_count"]
            .iter()
            .find_map(|suffix| sample.name.strip_suffix(suffix))
            .filter(|base| types.contains_key(*base));
        let kind = types
            .get(base.unwrap_or(&sample.name))
            .expect("a type before its samples");
        assert_eq!(kind == "histogram", base.is_some(), "{}", sample.name);
    }
    let distinct: BTreeSet<String> = samples
        .iter()
        .map(|s| format!("{}{:?}", s.name, s.labels))
        .collect();
    assert_eq!(distinct.len(), samples.len(), "a series twice");
    samples
}

fn is_name(name: &str) -> bool {
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn sample(line: &str) -> Sample {
    let end = line.find(['{', ' ']).expect("a name");
    let (name, mut rest) = line.split_at(end);
    assert!(is_name(name), "{line}");
    let mut labels = BTreeMap::new();
    if let Some(inner) = rest.strip_prefix('{') {
        rest = inner;
        loop {
            let (label, after) = rest.split_once("=\"").expect("a label");
            assert!(is_name(label), "{line}");
            let mut value = String::new();
            let mut characters = after.char_indices();
            let end = loop {
                match characters.next().expect("the end of a value") {
                    (at, '"') => break at,
                    (_, '\\') => match characters.next().expect("an escaped character").1 {
                        'n' => value.push('\n'),
                        c @ ('\\' | '"') => value.push(c),
                        c => panic!("\\{c} in {line}"),
                    },
                    (_, c) => value.push(c),
                }
            };
            assert!(labels.insert(label.to_owned(), value).is_none(), "{line}");
            rest = &after[end + 1..];
            if let Some(end) = rest.strip_prefix('}') {
                rest = end;
                break;
            }
            rest = rest.strip_prefix(',').expect("another label");
        }
    }
    let value = rest
        .strip_prefix(' ')
        .expect("a blank")
        .parse()
        .expect("a number");
    Sample {
        name: name.to_owned(),
        labels,
        value,
    }
}

/// The sum of the samples of a name that have these labels.
pub(super) fn value(samples: &[Sample], name: &str, labels: &[(&str, &str)]) -> f64 {
    let matches = |sample: &&Sample| {
        let has =
            |(label, value): &(&str, &str)| sample.labels.get(*label).map(String::as_str) == Some(*value);
        sample.name == name && labels.iter().all(has)
    };
    samples.iter().filter(matches).map(|sample| sample.value).sum()
}

#[test]
fn the_parser_refuses_what_prometheus_would() {
    parse("# HELP a b\n# TYPE a counter\na{x=\"\\\"\"} 1\n");
    for text in [
        "# TYPE a counter\na{} 1\n",
        "# TYPE a counter\na 1",
        "a 1\n",
        "# TYPE a counter\na 1\na 2\n",
    ] {
        assert!(std::panic::catch_unwind(|| parse(text)).is_err(), "{text}");
    }
}
