//! Recorded runs, played again.

use std::sync::Arc;

use openclaw_history::recording::{RecordedStep, RunRecording, StepResult};
use openclaw_history::replay::{ReplayEnding, ReplayOverrides, ReplayResult, replay, simulate};
use openclaw_runner::{RunEvent, RunPolicy};

use crate::recorded::{Recorded, recorded, recorded_events};
use crate::scenarios::{files, root};

fn scenario(name: &str) -> Recorded {
    recorded(&root().join(name).with_extension("json5"))
}

fn lines(events: &[RunEvent]) -> String {
    let line = |event: &RunEvent| match event {
        RunEvent::Candidate(decision) => serde_json::to_string(decision.as_ref()).unwrap(),
        RunEvent::Rotation(rotation) => serde_json::to_string(rotation.as_ref()).unwrap(),
    };
    events.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A recording as a file would keep it.
fn kept(recording: &RunRecording) -> RunRecording {
    serde_json::from_str(&serde_json::to_string(recording).unwrap()).unwrap()
}

#[test]
fn every_scenario_replays_byte_for_byte() {
    for path in files() {
        let name = path.display();
        let Recorded {
            reports,
            recordings,
            policy,
            ..
        } = recorded(&path);
        assert_eq!(recordings.len(), reports.len(), "{name}");
        for (report, recording) in reports.iter().zip(&recordings) {
            let recording = kept(recording);
            let again = replay(&recording, &ReplayOverrides::default()).unwrap();
            assert_eq!(
                lines(&again.report.events),
                lines(&report.events),
                "{name} {}",
                report.run_id
            );
            assert_eq!(again.report, *report, "{name}");
            assert_eq!(again.steps_as_recorded, recording.steps.len(), "{name}");
            let same = ReplayOverrides {
                policy: Some(Arc::clone(&policy)),
                ..ReplayOverrides::default()
            };
            assert!(!simulate(&recording, &same).unwrap().differs(), "{name}");
        }
    }
}

/// A recording without the name of its run in leases, which differs from run to run.
fn nameless(recording: &RunRecording) -> serde_json::Value {
    let mut recording = serde_json::to_value(recording).unwrap();
    recording.as_object_mut().unwrap().remove("holder");
    recording
}

/// Whether something happened but that the first candidate answered.
fn eventful(recording: &RunRecording) -> bool {
    let answers = |step: &RecordedStep| matches!(step.result, StepResult::Answered { .. });
    !recording.steps.iter().any(answers) || recording.steps.iter().any(happened(recording))
}

/// Whether a step is more than an answer of the first candidate, and writing it down.
fn happened(recording: &RunRecording) -> impl Fn(&RecordedStep) -> bool {
    |step| match &step.result {
        StepResult::Answered { model, .. } => Some(model) != recording.chain.first(),
        StepResult::Committed { .. } | StepResult::Session { .. } => false,
        StepResult::Failed { .. }
        | StepResult::Looked { .. }
        | StepResult::Noted
        | StepResult::OutOfTime { .. }
        | StepResult::Repaired { .. }
        | StepResult::Waited { .. } => true,
    }
}

#[test]
fn a_recorder_of_eventful_runs_gets_the_same_recordings_of_those() {
    let (mut kept, mut left_out) = (0, 0);
    for path in files() {
        let all = recorded(&path).recordings;
        let wanted: Vec<_> = all.iter().filter(|one| eventful(one)).map(nameless).collect();
        let got: Vec<_> = recorded_events(&path).recordings.iter().map(nameless).collect();
        assert_eq!(got, wanted, "{}", path.display());
        kept += wanted.len();
        left_out += all.len() - wanted.len();
    }
    assert!(kept > 20 && left_out > 5, "{kept} {left_out}");
}

#[test]
fn a_recording_shows_no_secret() {
    for path in files() {
        let Recorded { recordings, .. } = recorded(&path);
        let text = serde_json::to_string(&recordings).unwrap();
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            let keys = line
                .split('"')
                .filter(|word| word.starts_with("sk-") && word.len() > 8);
            for key in keys {
                assert!(!text.contains(key), "{key} of {} in {text}", path.display());
            }
        }
    }
}

/// The recording of the scenario's first run, under other circumstances.
fn otherwise(name: &str, change: impl FnOnce(&RunPolicy) -> ReplayOverrides) -> ReplayResult {
    let Recorded {
        recordings, policy, ..
    } = scenario(name);
    let simulated = simulate(&recordings[0], &change(&policy)).unwrap();
    assert!(simulated.differs(), "{name}");
    simulated.after
}

fn called(replayed: &ReplayResult) -> Vec<String> {
    let call = |(model, profile): &(_, Option<openclaw_ids::ProfileId>)| match profile {
        Some(profile) => format!("{model} @{profile}"),
        None => format!("{model}"),
    };
    replayed.calls.iter().map(call).collect()
}

#[test]
fn a_shorter_chain_ends_where_it_ends() {
    let after = otherwise("all-rate-limited", |_| ReplayOverrides {
        chain: Some(vec![
            "anthropic/claude-opus-4-8".parse().unwrap(),
            "openai/gpt-5.5".parse().unwrap(),
        ]),
        ..ReplayOverrides::default()
    });
    assert_eq!(
        called(&after),
        [
            "anthropic/claude-opus-4-8 @anthropic:work",
            "openai/gpt-5.5 @openai:a"
        ]
    );
    assert!(
        matches!(after.ending, ReplayEnding::Exhausted { .. }),
        "{:?}",
        after.ending
    );
}

#[test]
fn a_model_that_was_not_asked_is_unknown() {
    let after = otherwise("all-rate-limited", |_| ReplayOverrides {
        chain: Some(vec![
            "anthropic/claude-opus-4-8".parse().unwrap(),
            "mistral/large".parse().unwrap(),
        ]),
        ..ReplayOverrides::default()
    });
    assert_eq!(
        after.ending,
        ReplayEnding::Unknown {
            model: "mistral/large".parse().unwrap(),
            profile: None
        }
    );
    assert_eq!(after.steps_as_recorded, 2, "the first call and its mark");
}

#[test]
fn another_cap_leads_to_another_model_sooner() {
    let after = otherwise("rotate-rate-limit-cap", |policy| {
        let mut policy = policy.clone();
        policy.auth.cooldowns =
            serde_json::from_value(serde_json::json!({ "rateLimitedProfileRotations": 0 })).unwrap();
        ReplayOverrides {
            policy: Some(Arc::new(policy)),
            ..ReplayOverrides::default()
        }
    });
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!("simulated_cap", format!("{:#?}\n{:#?}", called(&after), after.ending));
    });
}

#[test]
fn a_step_of_another_version_is_named() {
    let Recorded { recordings, .. } = scenario("all-rate-limited");
    let text = serde_json::to_string(&recordings[0]).unwrap().replacen(
        "\"scope\":\"model\"",
        "\"scope\":\"galaxy\"",
        1,
    );
    let error = replay(&serde_json::from_str(&text).unwrap(), &ReplayOverrides::default()).unwrap_err();
    assert!(
        error.to_string().starts_with("step 1 of the recording"),
        "{error}"
    );
}
