//! Writes the documents that are made from tables; the tests compare them.

use crate::cli::{Accepts, Args, CannotRun, Outcome, Task};
use crate::workspace::{self, Workspace};

pub(crate) const TASK: Task = Task {
    name: "docs",
    summary: "Writes the documents that are generated from tables",
    usage: "",
    help: "\
A generated document is made by a test of the crate that owns the tables: with OPENCLAW_WRITE_DOCS set the test writes the
file, without it the test compares, so `cargo xtask test` fails while a document is out of date. The document of scenarios
is long and says nothing that the scenarios do not, so it is written below target/ and never compared.

Examples:
  cargo xtask docs             write them, then read `git diff docs`",
    accepts: Accepts::Flags(&[]),
    run: |args| run(&Workspace::find()?, args),
};

/// A generated document and the test that makes it.
struct Document {
    path: &'static str,
    package: &'static str,
    target: Target,
    test: &'static str,
}

/// Where a test lives.
#[derive(Clone, Copy)]
enum Target {
    /// In `tests/it/`.
    Integration,
    /// In the library.
    Library,
}

impl Target {
    fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Integration => &["--test", "it"],
            Self::Library => &["--lib"],
        }
    }
}

const DOCUMENTS: &[Document] = &[
    Document {
        path: "docs/classification.md",
        package: "openclaw-classify",
        target: Target::Library,
        test: "classify::tests::documentation::c_1_3_the_document_is_current",
    },
    Document {
        path: "docs/cli.md",
        package: "openclaw-cli",
        target: Target::Library,
        test: "cli::tests::the_document_is_current",
    },
    Document {
        path: "docs/metrics.md",
        package: "openclaw-gateway",
        target: Target::Library,
        test: "telemetry::metrics::tests::the_document_is_current",
    },
    Document {
        path: "target/docs/scenarios.md",
        package: "openclaw-runner",
        target: Target::Integration,
        test: "document::every_scenario_has_a_section",
    },
];

fn run(workspace: &Workspace, _: &Args) -> Result<Outcome, CannotRun> {
    let mut outcome = Outcome::Clean;
    for document in DOCUMENTS {
        let mut command = workspace.cargo();
        command
            .args(["test", "--quiet", "--package", document.package])
            .args(document.target.flags())
            .args(["--", "--exact", document.test])
            .env("OPENCLAW_WRITE_DOCS", "1");
        if workspace::succeeds(&mut command)? {
            println!("wrote {}", document.path);
        } else {
            outcome = Outcome::Findings;
        }
    }
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_document_is_made_by_a_test_that_exists() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        for document in DOCUMENTS {
            let is_kept = !document.path.starts_with("target/");
            assert!(
                !is_kept || root.join(document.path).is_file(),
                "{}",
                document.path
            );
            let (module, test) = document.test.rsplit_once("::").unwrap();
            let folder = match document.target {
                Target::Integration => "tests/it",
                Target::Library => "src",
            };
            let file = format!(
                "crates/{}/{folder}/{}.rs",
                document.package,
                module.replace("::", "/")
            );
            let source = std::fs::read_to_string(root.join(&file)).unwrap();
            assert!(source.contains(&format!("fn {test}()")), "{file}");
        }
    }
}
