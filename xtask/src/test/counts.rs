//! How many tests passed and failed, read off what the test runners print.

use std::fmt;

/// Sums over all runners that were heard.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TestCounts {
    passed: u64,
    failed: u64,
}

impl TestCounts {
    /// Takes in one line of output; only the closing lines of nextest and libtest count.
    pub(crate) fn hear(&mut self, line: &str) {
        let line = without_colour(line);
        // nextest repeats a failed test's own closing line, indented; only libtest itself begins at the margin.
        let counts = if let Some(rest) = line.strip_prefix("test result: ") {
            rest.split_once(". ").map(|(_, counts)| counts)
        } else if line.trim_start().starts_with("Summary [") {
            line.split_once(" run: ").map(|(_, counts)| counts)
        } else {
            None
        };
        // `10 passed (1 slow), 2 failed, 1 timed out, 3 skipped` or `3 passed; 0 failed; 0 ignored`
        for count in counts.unwrap_or_default().split([',', ';']) {
            let Some((number, what)) = count.trim().split_once(' ') else {
                continue;
            };
            let Ok(number) = number.parse::<u64>() else {
                continue;
            };
            match what.split(" (").next().unwrap_or_default() {
                "passed" => self.passed += number,
                "failed" | "timed out" | "exec failed" => self.failed += number,
                _ => {}
            }
        }
    }

    /// Whether any closing line was heard.
    pub(crate) fn any(self) -> bool {
        self.passed + self.failed > 0
    }
}

impl fmt::Display for TestCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

/// The line without terminal colour sequences (`ESC [ … m`).
fn without_colour(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, after)| after);
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::TestCounts;

    #[test]
    fn closing_lines_count_and_other_lines_do_not() {
        for (line, expected) in [
            (
                "     Summary [   0.005s] 12 tests run: 12 passed, 0 skipped",
                "12 passed, 0 failed",
            ),
            (
                "     Summary [  61.2s] 9/15 tests run: 5 passed (1 slow), 2 failed, 1 timed out, 1 exec failed, 3 skipped",
                "5 passed, 4 failed",
            ),
            (
                "\u{1b}[32;1m     Summary\u{1b}[0m [   0.1s] \u{1b}[1m1\u{1b}[0m test run: \u{1b}[1m1\u{1b}[0m \u{1b}[32;1mpassed\u{1b}[0m, 0 skipped",
                "1 passed, 0 failed",
            ),
            (
                "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s",
                "3 passed, 0 failed",
            ),
            (
                "test result: FAILED. 3 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.1s",
                "3 passed, 2 failed",
            ),
            (
                "    test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured",
                "0 passed, 0 failed",
            ),
            ("a note says 7 passed, 8 failed", "0 passed, 0 failed"),
            ("test passed: ok. 7 passed", "0 passed, 0 failed"),
        ] {
            let mut counts = TestCounts::default();
            counts.hear(line);
            assert_eq!(counts.to_string(), expected, "{line}");
            assert_eq!(counts.any(), expected != "0 passed, 0 failed", "{line}");
        }
    }

    #[test]
    fn several_runners_add_up() {
        let mut counts = TestCounts::default();
        counts.hear("test result: ok. 3 passed; 1 failed; 0 ignored");
        counts.hear("Summary [ 1s] 2 tests run: 2 passed, 0 skipped");
        assert_eq!(counts.to_string(), "5 passed, 1 failed");
    }
}
