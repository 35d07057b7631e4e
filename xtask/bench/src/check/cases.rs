//! What is counted: one row for each hot path.

mod chains;
mod runs;
mod texts;

/// One hot path.
pub(super) struct Case {
    pub(super) name: &'static str,
    /// How many passes are counted.
    pub(super) passes: usize,
    /// Prepares for that many passes.
    pub(super) prepare: fn(usize) -> Prepared,
}

/// Work that can be repeated.
pub(super) struct Prepared {
    /// How many operations one pass makes.
    pub(super) operations: usize,
    pub(super) pass: Box<dyn FnMut()>,
}

impl Prepared {
    /// A pass of one operation.
    fn one(pass: impl FnMut() + 'static) -> Self {
        Self {
            operations: 1,
            pass: Box::new(pass),
        }
    }
}

/// All of them.
#[rustfmt::skip]
pub(super) static CASES: &[Case] = &[
    Case { name: "classify.short",          passes: 5,    prepare: |_| texts::group("short") },
    Case { name: "classify.medium",         passes: 5,    prepare: |_| texts::group("medium") },
    Case { name: "classify.large",          passes: 5,    prepare: |_| texts::group("large") },
    Case { name: "classify.html",           passes: 5,    prepare: |_| texts::group("html") },
    Case { name: "chain.3",                 passes: 1000, prepare: |_| chains::of_the_configuration(3) },
    Case { name: "chain.10",                passes: 300,  prepare: |_| chains::of_the_configuration(10) },
    Case { name: "chain.100",               passes: 100,  prepare: |_| chains::of_the_configuration(100) },
    Case { name: "chain.iterate-100",       passes: 1000, prepare: |_| chains::iteration(100) },
    Case { name: "run.first-of-three-keys", passes: 300,  prepare: |passes| runs::over_a_still_store(passes, 3, 0) },
    Case { name: "run.two-rate-limits",     passes: 200,  prepare: |passes| runs::over_a_still_store(passes, 1, 2) },
    Case { name: "store.mark-in-memory",    passes: 500,  prepare: |_| runs::mark_in_memory() },
    Case { name: "store.snapshot",          passes: 1000, prepare: |_| runs::snapshot_in_memory() },
];

#[cfg(test)]
mod tests {
    use super::CASES;

    #[test]
    fn names_are_unique_and_every_case_can_be_played() {
        let mut names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CASES.len());
        for case in CASES {
            let mut prepared = (case.prepare)(2);
            assert!(prepared.operations > 0, "{}", case.name);
            (prepared.pass)();
            (prepared.pass)();
        }
    }
}
