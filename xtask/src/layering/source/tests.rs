//! Paths are found where code has them, and nowhere else.

use super::*;

#[track_caller]
fn check(text: &str, depth: usize, expected: &[&str]) {
    let uses = root_uses(text, depth);
    let names: Vec<_> = uses.iter().map(|root| root.name.as_str()).collect();
    assert_eq!(names, expected, "{text}");
}

#[test]
fn paths_from_the_root_are_uses() {
    check("use crate::wire::Format;", 1, &["wire"]);
    check(
        "fn f() -> crate::wire::Format { crate::sse::end() }",
        2,
        &["wire", "sse"],
    );
    check(
        "use crate::{sse, wire::{Format, chat::Body}, Verdict};",
        1,
        &["sse", "wire", "Verdict"],
    );
    check("pub(crate) fn f() {}", 1, &[]);
    check("macro_rules! m { () => { $crate::row::of() } }", 1, &["row"]);
}

#[test]
fn super_counts_where_it_leads_to_the_root() {
    check("use super::wire::Format;", 1, &["wire"]);
    check("use super::wire::Format;", 2, &[]);
    check("use super::super::wire::Format;", 2, &["wire"]);
    check("use super::super::{wire, sse};", 2, &["wire", "sse"]);
}

#[test]
fn comments_and_literals_are_no_uses() {
    for text in [
        "// crate::wire\n",
        "/// [`crate::wire`]\n",
        "/* crate::wire\n */",
        r#"const T: &str = "crate::wire \" crate::wire";"#,
        "const T: &str = r#\"crate::wire \" crate::wire\"#;",
        "const T: &[u8] = b\"crate::wire\";",
    ] {
        check(text, 1, &[]);
    }
    check(
        "const Q: char = '\"'; use crate::wire; const R: char = '\\'';",
        1,
        &["wire"],
    );
    check("fn f<'a>(x: &'a str) { crate::wire::f::<'a>(x) }", 1, &["wire"]);
}

#[test]
fn what_only_tests_compile_is_passed_over() {
    check(
        "#[cfg(test)]\nmod tests { use crate::wire; }\nuse crate::sse;",
        1,
        &["sse"],
    );
    check(
        "#[cfg(test)]\nuse crate::{wire, row};\nuse crate::sse;",
        1,
        &["sse"],
    );
    check(
        "#[cfg(all(test, unix))]\n#[expect(dead_code)]\nfn f() { crate::wire::f() }\n",
        1,
        &[],
    );
    check(
        "#[cfg(any(test, feature = \"testing\"))]\nuse crate::wire;",
        1,
        &["wire"],
    );
    check("#[cfg(test)]\nmod tests;\nuse crate::sse;", 1, &["sse"]);
}

#[test]
fn a_use_names_its_line() {
    let uses = root_uses("//! Words.\n\nuse crate::{\n    sse,\n    wire,\n};\n", 1);
    let lines: Vec<_> = uses.iter().map(|root| root.line).collect();
    assert_eq!(lines, [4, 5]);
}

#[test]
fn the_root_says_which_modules_it_has_and_where_its_names_come_from() {
    let root = "mod wire;\npub mod sse;\n#[cfg(test)]\nmod testing;\n#[cfg(feature = \"fuzzing\")]\npub mod fuzzing;\n\
                pub use wire::{Format, chat::Body as ChatBody};\npub(crate) use crate::sse::Parser;\n";
    assert_eq!(declared_modules(root), ["wire", "sse", "fuzzing"]);
    let origins = re_exports(root);
    assert_eq!(origins["Format"], "wire");
    assert_eq!(origins["ChatBody"], "wire");
    assert_eq!(origins["Parser"], "sse");
}
