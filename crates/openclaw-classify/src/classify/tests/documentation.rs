//! `docs/classification.md` says what the tables say: written on demand, compared otherwise.

use std::fmt::Write;
use std::path::Path;

use crate::RuleSet;
use crate::rules::{Example, FAMILIES, Rule, Saw};
use crate::rules::{Stage, TABLES};

/// Set by `cargo xtask docs`.
const WRITE: &str = "OPENCLAW_WRITE_DOCS";

const HEAD: &str = "\
# Classification

Generated from the tables of `openclaw-classify` by `cargo xtask docs`; `cargo xtask test` checks that it is current.

A failed attempt is asked about every rule below, from top to bottom; the first one that matches decides. Its id stands in
logs, errors and `explain`. What somebody behind the answering party said (an aggregator's upstream) is asked only when the
party's own words matched nothing; a bill or a credential found there is not yours, and becomes `server_error` for this model
under the id `upstream.account`.

In a phrase `(a|b)` offers alternatives, ` .. ` leaves room for a few words of the same sentence, `*` at an end lifts the
word boundary, `^` and `$` tie it to the ends of its text. Case, blanks, `_`, `-` and the kind of quotes do not matter.
A phrase right behind a negation does not count, nor one inside a link, a file name, a model's name or a quoted prompt.

Rules of your own are data (`RuleSet::with_rules`); they are asked after the first table, in their order.
";

/// What the document calls the tables, in their order.
const TITLES: [&str; 14] = [
    "Who did it",
    "What only some providers mean",
    "Codes and types",
    "Images, sessions and models",
    "Money",
    "Content and size",
    "Windows and rates",
    "Busy services",
    "Credentials",
    "The request's shape",
    "No answer",
    "Empty phrases of wrappers",
    "Codes that say little",
    "The status alone, and nothing at all",
];

/// When the tables of a stage are asked.
fn stage_words(stage: Stage) -> &'static str {
    match stage {
        Stage::Who => "Facts about the connection and this machine; they outrank everything that was said.",
        Stage::User => "Rules of the user.",
        Stage::Explicit => "Explicit evidence; it outranks every status.",
        Stage::CatchAll => "Asked when no explicit evidence was found.",
        Stage::Default => "Asked when nothing above matched.",
    }
}

fn render() -> String {
    let mut out = HEAD.to_owned();
    assert_eq!(TITLES.len(), TABLES.len(), "every table has a title");
    for (title, table) in TITLES.iter().zip(TABLES) {
        write!(out, "\n## {title}\n\n{}\n\n", stage_words(table.stage)).unwrap();
        out.push_str("| Rule | Reason | Owner | Marks | Sure | Asked under | Example |\n|---|---|---|---|---|---|---|\n");
        for rule in table.rows {
            let (owner, scope) = rule.owner_and_scope();
            writeln!(
                out,
                "| `{}` | {} | {owner} | {scope} | {} | {} | {} |",
                rule.id,
                rule.then,
                rule.certainty,
                conditions(rule),
                example(&rule.example)
            )
            .unwrap();
        }
        out.push_str("\nLooks for:\n\n");
        for rule in table.rows {
            writeln!(out, "- `{}`: {}", rule.id, looks_for(rule)).unwrap();
        }
    }
    out.push_str("\n## Providers\n\nAn id also stands for `<id>-…`; the host counts when the id is of your own choosing.\n\n");
    out.push_str("| Family | Ids | Hosts |\n|---|---|---|\n");
    for (family, ids, hosts) in FAMILIES {
        writeln!(out, "| {family:?} | {} | {} |", list(ids), list(hosts)).unwrap();
    }
    out
}

fn conditions(rule: &Rule) -> String {
    let families = rule.families.iter().map(|family| format!("{family:?}"));
    let statuses = rule.statuses.iter().map(|range| match range {
        (0, to) => format!("none to {to}"),
        (from, to) if from == to => from.to_string(),
        (from, to) => format!("{from} to {to}"),
    });
    let all: Vec<String> = families.chain(statuses).collect();
    if all.is_empty() {
        "all".to_owned()
    } else {
        all.join(", ")
    }
}

fn example(example: &Example) -> String {
    let provider = Some(example.provider).filter(|provider| !provider.is_empty());
    let status = Some(example.status).filter(|status| *status > 0);
    let words = [example.code, example.message]
        .into_iter()
        .filter(|words| !words.is_empty())
        .map(|words| format!("`{}`", cell(words)));
    let transport = example.transport.map(|transport| format!("{transport:?}"));
    let parts: Vec<String> = provider
        .map(str::to_owned)
        .into_iter()
        .chain(status.map(|status| status.to_string()))
        .chain(words)
        .chain(transport)
        .collect();
    if parts.is_empty() {
        "nothing".to_owned()
    } else {
        parts.join(" ")
    }
}

fn looks_for(rule: &Rule) -> String {
    let seen = match rule.saw {
        Saw::Anything => "nothing more".to_owned(),
        Saw::Silence => "no text and no code".to_owned(),
        Saw::Codes(codes) => format!("a code or type {}", list(codes)),
        Saw::Phrases(phrases) => list(phrases),
        Saw::Transports(facts) => {
            let facts: Vec<String> = facts.iter().map(|fact| format!("`{fact:?}`")).collect();
            facts.join(", ")
        }
    };
    if rule.unless.is_empty() {
        return seen;
    }
    format!("{seen}; unless {}", list(rule.unless))
}

fn list(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|words| format!("`{words}`")).collect();
    words.join(", ")
}

/// A bar would end the cell.
fn cell(words: &str) -> String {
    words.replace('|', "\\|")
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "whoever runs the tests decides whether the document is written"
)]
fn c_1_3_the_document_is_current() {
    let path = Path::new(env!("OPENCLAW_WORKSPACE_ROOT")).join("docs/classification.md");
    let rendered = render();
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, &rendered).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let same = written == rendered;
    assert!(
        same,
        "docs/classification.md is not what the tables say; `cargo xtask docs` writes it"
    );
}

#[test]
fn c_1_3_the_document_names_every_rule() {
    let rendered = render();
    for id in RuleSet::shipped().ids() {
        assert!(rendered.contains(&format!("| `{id}` |")), "{id}");
    }
}
