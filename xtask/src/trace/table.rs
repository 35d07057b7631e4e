//! The rules as Markdown tables, one per area.

use std::fmt::Write;

use super::catalogue::{AREAS, Catalogue, Rule};
use super::citation::{Citation, Kind};

/// Everything that follows the hand-written part of the document.
pub(super) fn render(catalogue: &Catalogue, citations: &[Citation]) -> String {
    let mut text = String::new();
    for (area, title) in AREAS {
        let rules: Vec<&Rule> = catalogue
            .rules()
            .iter()
            .filter(|rule| rule.area == *area)
            .collect();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "## {title}\n\n| Rule | About | Kept by | Proved by |\n|---|---|---|---|"
        );
        for rule in rules {
            let proof = match catalogue.exception(rule) {
                Some(why) => why.to_owned(),
                None => proof(rule, citations),
            };
            let _ = writeln!(
                text,
                "| {} | {} | {} | {proof} |",
                rule.id,
                rule.about,
                keeper(rule, citations)
            );
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// The first file of code that names the rule; a rule that only its test names is kept by the test's crate.
fn keeper(rule: &Rule, citations: &[Citation]) -> String {
    let cited = || citations.iter().filter(|citation| rule.is_cited_by(citation));
    let code = cited()
        .find(|citation| citation.kind == Kind::Code)
        .map(|citation| short(&citation.file));
    let home = || cited().next().map(|citation| citation.home.clone());
    code.or_else(home)
        .map_or_else(String::new, |place| format!("`{place}`"))
}

fn proof(rule: &Rule, citations: &[Citation]) -> String {
    let test = citations
        .iter()
        .filter(|citation| rule.is_cited_by(citation))
        .find_map(|citation| match &citation.kind {
            Kind::Test(name) => Some((citation, name)),
            Kind::Code => None,
        });
    test.map_or_else(String::new, |(citation, name)| {
        match name.strip_prefix("scenario ") {
            Some(scenario) => format!("scenario `{scenario}`"),
            None => format!("`{}` `{name}`", citation.home),
        }
    })
}

/// `crates/openclaw-x/src/a/b.rs` as `x/a/b`.
fn short(file: &str) -> String {
    let place = file
        .trim_start_matches("crates/openclaw-")
        .trim_end_matches(".rs");
    place.replacen("/src/", "/", 1)
}
