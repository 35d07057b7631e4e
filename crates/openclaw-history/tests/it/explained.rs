//! What `explain` tells of runs, from their records alone.

use openclaw_history::explain::{Record, Story, read, stories, story_of};
use openclaw_runner::{RunEvent, RunReport};
use serde_json::{Value, json};

use crate::scenario::START;
use crate::scenarios::{played, root};

/// Scenarios that together show every kind of step and every ending.
const TOLD: &[&str] = &[
    "all-logins-refused",
    "all-rate-limited",
    "auth-skip-cache",
    "billing-probe-checkpoints",
    "format-repaired-once",
    "format-stops",
    "inline-wait-always",
    "last-resort",
    "limit-attempts",
    "live-switch-goes-outside-the-chain",
    "live-switch-jumps",
    "mixed-failures",
    "overflow-goes-to-a-larger-model",
    "probe-held-back-then-granted",
    "rotate-dead-keys",
    "useless-answer-advances",
];

fn reports(name: &str) -> Vec<RunReport> {
    played(&root().join(name).with_extension("json5")).reports
}

/// The lines of a run, as they are serialised.
fn lines(report: &RunReport) -> Vec<Value> {
    let line = |event: &RunEvent| match event {
        RunEvent::Candidate(decision) => serde_json::to_value(decision.as_ref()).unwrap(),
        RunEvent::Rotation(rotation) => serde_json::to_value(rotation.as_ref()).unwrap(),
    };
    report.events.iter().map(line).collect()
}

/// Lines as a file has them.
fn file(lines: &[Value]) -> String {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    lines.join("\n")
}

/// The lines of a run, as a JSON log holds them among others.
fn log(report: &RunReport) -> String {
    let start = jiff::Timestamp::from_second(START).unwrap();
    let mut log = String::from(
        "2026-03-01 listening on 127.0.0.1:18789\n{\"level\":\"INFO\",\"fields\":{\"message\":\"ready\"}}\n",
    );
    for line in lines(report) {
        let elapsed = jiff::SignedDuration::from_millis(line["elapsedMs"].as_i64().unwrap());
        let line = json!({ "timestamp": (start + elapsed).to_string(), "level": "WARN", "fields": line, "target": "model_fallback" });
        log.push_str(&line.to_string());
        log.push('\n');
    }
    log
}

#[test]
fn the_stories_of_scenarios_read_as_written_down() {
    for name in TOLD {
        let told: Vec<String> = reports(name)
            .iter()
            .map(|report| {
                story_of(report).map_or_else(|| "(no record)\n".to_owned(), |story| story.to_string())
            })
            .collect();
        insta::with_settings!({ omit_expression => true, snapshot_suffix => *name }, {
            insta::assert_snapshot!("story", told.join("\n----\n\n"));
        });
    }
}

#[test]
fn a_story_is_the_same_from_the_process_from_its_json_and_from_a_log() {
    for name in TOLD {
        for report in reports(name) {
            let direct: Vec<Record> = report.events.iter().map(Record::from).collect();
            assert_eq!(read(&file(&lines(&report))).unwrap(), direct, "{name}");
            let told = stories(&read(&log(&report)).unwrap());
            let undated: Vec<Story> = told
                .iter()
                .map(|story| Story {
                    began_at: None,
                    ..story.clone()
                })
                .collect();
            assert_eq!(undated, stories(&direct), "{name}");
        }
    }
}

#[test]
fn a_log_tells_when() {
    let told = stories(&read(&log(&reports("mixed-failures")[0])).unwrap());
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!("story_from_a_log", told[0].to_string());
    });
}

/// Runs of one name follow each other, and runs of several names are mixed.
#[test]
fn runs_are_told_apart() {
    // After its repair the first run answers at its first model, which leaves no record of where it ends.
    for name in TOLD.iter().filter(|name| **name != "format-repaired-once") {
        let reports = reports(name);
        let named: usize = reports.iter().filter(|report| !report.events.is_empty()).count();
        let mut all: Vec<Value> = reports.iter().flat_map(lines).collect();
        for line in &mut all {
            line["runId"] = "the same".into();
        }
        let told = stories(&read(&file(&all)).unwrap());
        assert_eq!(told.len(), named, "{name}: {told:#?}");
    }
    let (one, other) = (reports("rotate-dead-keys"), reports("all-rate-limited"));
    let mut other = lines(&other[0]);
    for line in &mut other {
        line["runId"] = "other".into();
    }
    let one = lines(&one[0]);
    let longest = one.len().max(other.len());
    let mixed = (0..longest).flat_map(|index| [one.get(index), other.get(index)].into_iter().flatten());
    let mixed: Vec<Value> = mixed.cloned().collect();
    let told = stories(&read(&file(&mixed)).unwrap());
    assert_eq!(told.len(), 2);
    for story in told {
        let own = if story.run_id == "other" { &other } else { &one };
        assert_eq!(stories(&read(&file(own)).unwrap()), [story]);
    }
}

#[test]
fn a_broken_record_is_named_by_its_line() {
    let log = "ready\n{\"event\":\"model_fallback_decision\",\"decision\":\"guess\"}\n";
    let error = read(log).unwrap_err();
    assert_eq!(error.line, 2);
    assert!(error.to_string().starts_with("line 2 is no record"), "{error}");
    assert_eq!(read("{\"event\":\"something else\"}\n{broken").unwrap(), []);
}
