//! Compiling regular expressions that are constants in the source.

use regex::Regex;

/// Compiles a constant `pattern`; a test compiles each of them.
#[expect(
    clippy::expect_used,
    reason = "the pattern is a constant that the tests compile"
)]
pub(crate) fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant pattern compiles")
}
