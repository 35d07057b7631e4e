//! `docs/classification.md` is generated from the tables: written on demand, compared otherwise.

use std::fmt::Write;
use std::path::Path;

use openclaw_providers::{FAMILIES, FamilyNames};

use crate::RuleSet;
use crate::rules::{Condition, Example, Rule};
use crate::rules::{Stage, TABLES};

/// Set by `cargo xtask docs`.
const WRITE: &str = "OPENCLAW_WRITE_DOCS";

const HEAD: &str = "\
# Classification

Generated from the tables of `openclaw-classify` by `cargo xtask docs`; `cargo xtask test` checks that it is current.

A failed attempt is compared with every rule below, from top to bottom; the first one that matches decides. Logs, errors and
`explain` show its id. An error that the provider quotes from an upstream, as aggregators do, is compared only when the
provider's own error matched no explicit rule; a bill or a credential in it is not yours, and becomes `server_error` for this
model under the id `upstream.account`.

In a phrase `(a|b)` offers alternatives, ` .. ` leaves room for a few words of the same sentence, `*` at an end lifts the
word boundary, `^` and `$` anchor it at the ends of its text. Case, blanks, `_`, `-` and the kind of quotes do not matter.
A phrase right after a negation does not count, nor one inside a link, a file name, a model's name or a quoted prompt.

Rules of your own are data (`RuleSet::with_rules`); they are evaluated after the first table, in their order.
";

/// The headings of the tables, in their order.
const TITLES: [&str; 15] = [
    "Connection and this machine",
    "Codes and texts of single providers",
    "References of the request",
    "Codes and types",
    "Images, sessions and models",
    "Billing",
    "Content policy and context size",
    "Rate limits and quota windows",
    "Overload",
    "Authentication and permission",
    "Malformed requests",
    "Timeouts, connection failures and server errors",
    "Generic phrases of aggregators",
    "Generic codes",
    "Status alone, or no evidence at all",
];

/// When the tables of a stage are evaluated.
fn stage_text(stage: Stage) -> &'static str {
    match stage {
        Stage::LocalFacts => {
            "Facts about the connection and this machine; they outrank everything that the provider says."
        }
        Stage::User => "Rules of the user.",
        Stage::Explicit => "Explicit evidence; it outranks every status.",
        Stage::CatchAll => "Evaluated when no explicit evidence was found.",
        Stage::Default => "Evaluated when nothing above matched.",
    }
}

fn render() -> String {
    let mut out = HEAD.to_owned();
    assert_eq!(TITLES.len(), TABLES.len(), "every table has a title");
    for (title, table) in TITLES.iter().zip(TABLES) {
        write!(out, "\n## {title}\n\n{}\n\n", stage_text(table.stage)).unwrap();
        out.push_str("| Rule | Reason | Owner | Scope | Certainty | Providers and statuses | Example |\n|---|---|---|---|---|---|---|\n");
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
        out.push_str("\nMatches:\n\n");
        for rule in table.rows {
            writeln!(out, "- `{}`: {}", rule.id, looks_for(rule)).unwrap();
        }
    }
    out.push_str(
        "\n## ProviderFilter\n\nAn id also stands for `<id>-…`; the host counts when the id is your own.\n\n",
    );
    out.push_str("| Family | Ids | Hosts |\n|---|---|---|\n");
    for FamilyNames {
        family, ids, hosts, ..
    } in FAMILIES
    {
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
    let matched = match rule.condition {
        Condition::Any => "nothing more".to_owned(),
        Condition::Empty => "no text and no code".to_owned(),
        Condition::Codes(codes) => format!("a code or type {}", list(codes)),
        Condition::Phrases(phrases) => list(phrases),
        Condition::Transports(facts) => {
            let facts: Vec<String> = facts.iter().map(|fact| format!("`{fact:?}`")).collect();
            facts.join(", ")
        }
    };
    if rule.unless.is_empty() {
        return matched;
    }
    format!("{matched}; unless {}", list(rule.unless))
}

fn list(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|words| format!("`{words}`")).collect();
    words.join(", ")
}

/// Text for a table cell, which a bar would end.
fn cell(words: &str) -> String {
    words.replace('|', "\\|")
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "an environment variable decides whether the test writes the document"
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
