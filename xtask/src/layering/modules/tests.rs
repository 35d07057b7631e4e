//! An arrow against the order, a module outside the table and a crowded root are findings.

use super::*;

const ROW: CrateModules = CrateModules {
    package: "openclaw-sample",
    folder: "crates/openclaw-sample/src",
    order: &["wire", "sse", "answer"],
};

fn sources(root: &str, files: &[(&str, &str)]) -> Sources {
    Sources {
        roots: vec![root.to_owned()],
        files: files
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
            .collect(),
    }
}

const ROOT: &str = "mod answer;\nmod sse;\nmod wire;\npub use sse::Parser;\n#[cfg(test)]\nmod testing;\n";

#[track_caller]
fn finding(root: &str, files: &[(&str, &str)]) -> String {
    let findings = check_crate(&ROW, &sources(root, files));
    assert_eq!(findings.len(), 1, "{findings:?}");
    findings[0].clone()
}

#[test]
fn arrows_to_lower_modules_are_fine() {
    let files = [
        ("answer.rs", "use crate::{sse, wire};"),
        ("answer/head.rs", "use crate::Parser; use super::tail;"),
        ("sse.rs", "use super::wire::Format;"),
        ("sse/tests.rs", "use crate::answer::Answer;"),
        (
            "wire.rs",
            "use crate::wire::chat;\n#[cfg(test)]\nmod tests { use crate::answer; }",
        ),
    ];
    assert_eq!(check_crate(&ROW, &sources(ROOT, &files)), Vec::<String>::new());
}

#[test]
fn an_arrow_upwards_names_file_line_and_remedy() {
    let told = finding(
        ROOT,
        &[("sse/parse.rs", "//! Words.\nuse crate::answer::Answer;")],
    );
    assert!(
        told.starts_with("crates/openclaw-sample/src/sse/parse.rs:2: module sse may not use answer"),
        "{told}"
    );
    assert!(told.contains("remedy: "), "{told}");
}

#[test]
fn an_arrow_through_a_re_export_counts_for_the_module_that_owns_the_name() {
    let told = finding(ROOT, &[("wire.rs", "use crate::Parser;")]);
    assert!(told.contains("module wire may not use sse"), "{told}");
}

#[test]
fn the_table_and_the_root_name_the_same_modules() {
    assert!(
        finding("mod wire;\nmod sse;\nmod answer;\nmod row;\n", &[])
            .contains("root module row is not in the table")
    );
    assert!(finding("mod wire;\nmod sse;\n", &[]).contains("has a root module answer, the crate has none"));
}

#[test]
fn a_root_has_at_most_twelve_modules() {
    let names: Vec<String> = (0..=MOST).map(|number| format!("m{number}")).collect();
    let root = names
        .iter()
        .map(|name| format!("mod {name};"))
        .collect::<Vec<_>>()
        .join("\n");
    let findings = check_crate(&ROW, &sources(&root, &[]));
    assert!(findings[0].contains("has 13 modules at its root"), "{findings:?}");
}

#[test]
fn no_row_has_more_than_twelve_modules_or_one_twice() {
    for row in MODULES {
        assert!(row.order.len() <= MOST, "{}", row.package);
        let mut names = row.order.to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), row.order.len(), "{}", row.package);
    }
}
