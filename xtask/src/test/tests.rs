//! The step table turns into the commands the documentation promises.

use super::*;

fn line(name: &str, packages: &[&str], nextest: bool) -> Option<String> {
    let step = STEPS.iter().find(|step| step.name == name).unwrap();
    words(step, packages, nextest).map(|words| words.join(" "))
}

#[test]
fn steps_are_named_once_and_keep_their_order() {
    let names: Vec<_> = STEPS.iter().map(|step| step.name).collect();
    assert_eq!(
        names,
        [
            "layering", "rules", "fmt", "clippy", "features", "tests", "doctests", "docs"
        ]
    );
}

#[test]
fn the_whole_workspace_is_looked_at_unless_crates_are_named() {
    for (step, packages, nextest, expected) in [
        ("layering", &[][..], true, Some("")),
        ("fmt", &[], true, Some("fmt --all --check")),
        ("fmt", &["a"], true, Some("fmt --package a --check")),
        (
            "clippy",
            &[],
            true,
            Some("clippy --workspace --all-targets --all-features --keep-going -- -D warnings"),
        ),
        (
            "tests",
            &[],
            true,
            Some("nextest run --workspace --all-features --no-fail-fast"),
        ),
        (
            "tests",
            &["a", "b"],
            true,
            Some("nextest run --package a --package b --all-features --no-fail-fast --no-tests=pass"),
        ),
        (
            "tests",
            &[],
            false,
            Some("test --workspace --all-features --no-fail-fast --all-targets"),
        ),
        (
            "doctests",
            &["a"],
            false,
            Some("test --package a --all-features --no-fail-fast --doc"),
        ),
        (
            "docs",
            &[],
            true,
            Some("doc --workspace --all-features --no-deps --keep-going"),
        ),
        ("features", &["openclaw-ids"], true, None),
        (
            "features",
            &["openclaw-session"],
            true,
            Some("clippy --package openclaw-session --all-targets --no-default-features -- -D warnings"),
        ),
    ] {
        assert_eq!(
            line(step, packages, nextest).as_deref(),
            expected,
            "{step} {packages:?}"
        );
    }
}

#[test]
fn durations_are_short_to_read() {
    for (milliseconds, expected) in [
        (0, "0.0 s"),
        (1_950, "1.9 s"),
        (59_999, "59.9 s"),
        (60_000, "1 min 00 s"),
        (754_321, "12 min 34 s"),
    ] {
        assert_eq!(shown(Duration::from_millis(milliseconds)), expected);
    }
}

#[test]
fn a_failed_step_is_a_finding_and_a_broken_one_could_not_run() {
    let took = Duration::ZERO;
    let broken = || ("docs", StepResult::Broken(CannotRun("no cargo".to_owned())), took);
    let outcome = |fates: &[_]| summarise(fates, TestCounts::default(), took);
    assert_eq!(
        outcome(&[
            ("fmt", StepResult::Passed, took),
            ("features", StepResult::Skipped, took)
        ]),
        Ok(Outcome::Clean)
    );
    assert_eq!(
        outcome(&[("fmt", StepResult::Failed, took), broken()]),
        Ok(Outcome::Findings)
    );
    assert!(outcome(&[("fmt", StepResult::Passed, took), broken()]).is_err());
}
