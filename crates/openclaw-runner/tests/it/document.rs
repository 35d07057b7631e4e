//! A document of what every scenario comes to, for readers: `target/docs/scenarios.md`, written on demand.

use std::fmt::Write as _;
use std::path::Path;

use crate::scenario::{Scenario, Topic};
use crate::scenarios::{files, played};
use crate::strip::Strip;

/// An environment variable: set to anything, it makes the test write the document.
const WRITE: &str = "OPENCLAW_WRITE_DOCS";

/// The headings with a line each.
const TOPICS: [(Topic, &str, &str); 8] = [
    (
        Topic::Chain,
        "From one model to the next",
        "A failure that another model may not have leads to the next candidate.",
    ),
    (
        Topic::Rotate,
        "From one key to the next",
        "Inside one candidate, other keys of the same provider are tried first where that can help.",
    ),
    (
        Topic::Rest,
        "Resting, skipping, probing",
        "What failed rests. While it does it is skipped without a call, and now and then asked again.",
    ),
    (
        Topic::Wait,
        "Waiting and limits",
        "How long a run waits, and when it has tried enough.",
    ),
    (
        Topic::Stop,
        "What ends a run at once",
        "Some failures every model would repeat, and some things cannot be taken back.",
    ),
    (
        Topic::Session,
        "What a session remembers",
        "A fallback is written to the session before it is asked, and taken back when it fails.",
    ),
    (
        Topic::Person,
        "What a person decided",
        "A person's choice is never exchanged behind their back.",
    ),
    (
        Topic::Read,
        "What a person reads",
        "One text for one cause, and a list when there are several.",
    ),
];

const HEAD: &str = "\
# Scenarios

Whole runs, played by the tests: what was asked, what each candidate did, what the person saw, and what rests afterwards.
`cargo xtask docs` writes this file from `fixtures/scenarios/`; the same files with every record in full are in
`fixtures/scenarios/snapshots/`.

| Sign | Means |
|---|---|
| ✅ | answered |
| ❌ | failed, and why |
| 💤 | at rest or not fit, so it was skipped without a call |
| 🔎 | at rest, but asked once to find out |
| 🔑 | on to the next key of the same candidate |
| ⏳ | waited, then asked again |
| 🔧 | asked again with a repaired request |
| 👤 | a person chose another model meanwhile |
| ✋ | the caller cancelled meanwhile |
| ➜ | on to the next candidate |
";

struct Chapter {
    name: String,
    scenario: Scenario,
    strips: Vec<Strip>,
}

fn chapters() -> Vec<Chapter> {
    let read = |path: &std::path::PathBuf| Chapter {
        name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
        scenario: Scenario::read(path),
        strips: played(path).strips,
    };
    files().iter().map(read).collect()
}

fn render() -> String {
    let chapters = chapters();
    let mut page = HEAD.to_owned();
    let of = |topic: Topic| {
        chapters
            .iter()
            .filter(move |chapter| chapter.scenario.topic == topic)
    };
    page.push_str("\n## Index\n\n");
    for (topic, heading, _) in TOPICS {
        let links: Vec<String> = of(topic)
            .map(|chapter| format!("[{}](#{})", chapter.scenario.title, chapter.name))
            .collect();
        writeln!(page, "- **{heading}**: {}", links.join(" · ")).unwrap();
    }
    for (topic, heading, line) in TOPICS {
        write!(page, "\n## {heading}\n\n{line}\n").unwrap();
        for chapter in of(topic) {
            chapter.write(&mut page);
        }
    }
    page
}

impl Chapter {
    fn write(&self, page: &mut String) {
        let Scenario {
            title, about, rules, ..
        } = &self.scenario;
        write!(page, "\n### {title}<a id=\"{}\"></a>\n\n{about}\n\n", self.name).unwrap();
        let chain: Vec<String> = self.strips[0]
            .chain
            .iter()
            .map(|model| format!("`{model}`"))
            .collect();
        write!(page, "Chain: {}\n\n", chain.join(" ➜ ")).unwrap();
        page.push_str("| | What happened | What the person saw | At rest afterwards |\n|---|---|---|---|\n");
        for strip in &self.strips {
            let cells = [
                strip.time(),
                strip.walk.clone(),
                strip.ending.clone(),
                strip.rests.clone(),
            ];
            writeln!(
                page,
                "| {} |",
                cells.map(|cell| cell.replace('|', "\\|")).join(" | ")
            )
            .unwrap();
        }
        let rules: Vec<String> = rules.iter().map(|rule| format!("`{rule}`")).collect();
        writeln!(page, "\n<sub>{} · `{}`</sub>", rules.join(" "), self.name).unwrap();
    }
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "an environment variable decides whether the document is written"
)]
fn every_scenario_has_a_section() {
    let rendered = render();
    for path in files() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let title = Scenario::read(&path).title;
        for part in [
            format!("[{title}](#{name})"),
            format!("\n### {title}<a id=\"{name}\"></a>\n"),
        ] {
            assert_eq!(rendered.matches(&part).count(), 1, "{part}");
        }
    }
    if std::env::var_os(WRITE).is_some() {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .parent()
            .unwrap()
            .join("docs");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("scenarios.md"), rendered).unwrap();
    }
}
