//! Compiles the patterns that stand in the source.

use regex::Regex;

/// `pattern` compiled; only for constants, all of which some test compiles.
#[expect(
    clippy::expect_used,
    reason = "the pattern is a constant that the tests compile"
)]
pub(crate) fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant pattern compiles")
}
