//! What a mark does to a busy run, and a switch to its chain.

use super::*;
use crate::entry::PinSource;
use crate::testing::{at, auto, entry, model, pin, user};

const PENDING: &str = r#""liveModelSwitchPending": true"#;

fn running(text: &str) -> RunSelection {
    RunSelection {
        model: model(text),
        runtime: None,
        profile: None,
    }
}

fn run(text: &str, progress: Progress, redirects: u32) -> LiveRun {
    LiveRun {
        running: running(text),
        progress,
        redirects,
    }
}

/// The decision, after checking that the mark was consumed exactly when it should be.
fn decide(members: &str, run: &LiveRun) -> LiveSwitch {
    let before = entry(members);
    let (next, outcome) = live_switch(&before, run, &model("home/m"), at(2000));
    match outcome {
        LiveSwitch::Satisfied | LiveSwitch::Switch(_) => {
            let next = next.unwrap();
            assert!(!next.live_model_switch_pending);
            assert_eq!(next.selection(), before.selection());
        }
        LiveSwitch::Unmarked | LiveSwitch::Waits => assert_eq!(next, None),
    }
    outcome
}

#[test]
fn s_12_2_what_a_mark_does() {
    let marked = |members: String| format!("{members}, {PENDING}");
    #[rustfmt::skip]
    let rows = [
        ("S-12.2a: no mark, another selection", user("a/m"),              "b/m", Progress::Clean,   0, LiveSwitch::Unmarked),
        ("hazard 1: a fallback wrote it",       auto("a/m", "b/m"),       "b/m", Progress::Clean,   0, LiveSwitch::Unmarked),
        ("S-12.2c, hazard 10: satisfied",       marked(user("a/m")),      "a/m", Progress::Visible, 0, LiveSwitch::Satisfied),
        ("S-12.2d: clean",                      marked(user("a/m")),      "b/m", Progress::Clean,   0, LiveSwitch::Switch(running("a/m"))),
        ("S-12.2d: something was seen",         marked(user("a/m")),      "b/m", Progress::Visible, 0, LiveSwitch::Waits),
        ("A6: the second redirect",             marked(user("a/m")),      "b/m", Progress::Clean,   1, LiveSwitch::Switch(running("a/m"))),
        ("A6: a third one waits",               marked(user("a/m")),      "b/m", Progress::Clean,   2, LiveSwitch::Waits),
        ("S-12.2b: what answered last",
            marked(r#""modelProvider": "c", "model": "m""#.into()),       "b/m", Progress::Clean,   0, LiveSwitch::Switch(running("c/m"))),
        ("S-12.2b: the override before that",
            marked(format!(r#"{}, "modelProvider": "c", "model": "m""#, user("a/m"))),
                                                                          "b/m", Progress::Clean,   0, LiveSwitch::Switch(running("a/m"))),
        ("S-12.2b: the default",                PENDING.into(),           "b/m", Progress::Clean,   0, LiveSwitch::Switch(running("home/m"))),
    ];
    for (name, members, runs, progress, redirects, expected) in rows {
        assert_eq!(
            decide(&members, &run(runs, progress, redirects)),
            expected,
            "{name}"
        );
    }
}

#[test]
fn s_12_2c_profile_and_runtime_count_as_selection() {
    let members = format!(
        r#"{}, "authProfileOverride": "p", "authProfileOverrideSource": "user", "agentRuntimeOverride": "codex", {PENDING}"#,
        user("a/m")
    );
    let wanted = RunSelection {
        model: model("a/m"),
        runtime: Some("codex".to_owned()),
        profile: Some(pin("p", PinSource::User)),
    };
    let with = |running: RunSelection| LiveRun {
        running,
        progress: Progress::Clean,
        redirects: 0,
    };
    assert_eq!(decide(&members, &with(wanted.clone())), LiveSwitch::Satisfied);
    for other in [
        RunSelection {
            runtime: None,
            ..wanted.clone()
        },
        RunSelection {
            profile: None,
            ..wanted.clone()
        },
        RunSelection {
            profile: Some(pin("p", PinSource::Auto)),
            ..wanted.clone()
        },
    ] {
        assert_eq!(decide(&members, &with(other)), LiveSwitch::Switch(wanted.clone()));
    }
}

#[test]
fn a6_and_s_12_3_what_the_chain_does() {
    let chain = ["a/m", "b/m", "c/m", "d/m"].map(model);
    for (name, target, origin, expected) in [
        (
            "a later candidate",
            "d/m",
            SwitchOrigin::Marked,
            Redirect::Jump(3),
        ),
        (
            "the next candidate",
            "c/m",
            SwitchOrigin::Marked,
            Redirect::Jump(2),
        ),
        ("the current one", "b/m", SwitchOrigin::Marked, Redirect::Direct),
        ("an earlier one", "a/m", SwitchOrigin::Marked, Redirect::Direct),
        (
            "one outside the chain",
            "x/m",
            SwitchOrigin::Marked,
            Redirect::Direct,
        ),
        (
            "unmarked",
            "d/m",
            SwitchOrigin::Unmarked,
            Redirect::FailedCandidate,
        ),
        (
            "unmarked, outside",
            "x/m",
            SwitchOrigin::Unmarked,
            Redirect::FailedCandidate,
        ),
    ] {
        let position = ChainPosition {
            chain: &chain,
            current: 1,
            runtime: None,
        };
        assert_eq!(redirect(&running(target), origin, &position), expected, "{name}");
    }
}

#[test]
fn bl_67_a_chain_of_any_length_leads_straight_to_the_choice() {
    for length in [1, 2, 12] {
        let chain: Vec<_> = (0..length).map(|index| model(&format!("p/m{index}"))).collect();
        let position = ChainPosition {
            chain: &chain,
            current: 0,
            runtime: None,
        };
        assert_eq!(
            redirect(&running("x/m"), SwitchOrigin::Marked, &position),
            Redirect::Direct
        );
    }
}

#[test]
fn s_12_3_which_runtimes_are_one() {
    for (one, other, same) in [
        (None, None, true),
        (Some("auto"), Some("default"), true),
        (Some("auto"), None, true),
        (Some("pi"), Some("openclaw"), true),
        (Some("codex-app-server"), Some("codex"), true),
        (Some("codex"), None, false),
        (Some("openclaw"), Some("codex"), false),
    ] {
        let target = RunSelection {
            runtime: one.map(str::to_owned),
            ..running("a/m")
        };
        let position = ChainPosition {
            chain: &[],
            current: 0,
            runtime: other,
        };
        let found = redirect(&target, SwitchOrigin::Marked, &position);
        assert_eq!(found != Redirect::OtherRuntime, same, "{one:?} and {other:?}");
    }
}

#[test]
fn s_12_3_the_message() {
    assert_eq!(
        switch_message(&model("a/m")),
        "Live session model switch requested: a/m"
    );
}

#[test]
fn s_12_3a_and_a6_a_third_redirect_waits_for_the_next_turn() {
    let chosen = format!("{}, {PENDING}", user("a/m"));
    for redirects in 0..MAX_REDIRECTS {
        let outcome = decide(&chosen, &run("b/m", Progress::Clean, redirects));
        assert!(matches!(outcome, LiveSwitch::Switch(_)), "{redirects}");
    }
    assert_eq!(
        decide(&chosen, &run("b/m", Progress::Clean, MAX_REDIRECTS)),
        LiveSwitch::Waits
    );
    // The mark is still there, so the next turn, which starts on the choice, consumes it.
    assert_eq!(
        decide(&chosen, &run("a/m", Progress::Clean, 0)),
        LiveSwitch::Satisfied
    );
}

#[test]
fn s_12_3b_and_a6_a_model_outside_the_chain_is_reached_in_this_run() {
    let chain = [model("b/m"), model("c/m")];
    let at = ChainPosition {
        chain: &chain,
        current: 1,
        runtime: None,
    };
    assert_eq!(
        redirect(&running("z/m"), SwitchOrigin::Marked, &at),
        Redirect::Direct
    );
}

#[test]
fn hazard_9_the_mark_goes_before_the_switch_so_a_crash_never_loops() {
    let chosen = entry(&format!("{}, {PENDING}", user("a/m")));
    let (consumed, outcome) = live_switch(
        &chosen,
        &run("b/m", Progress::Clean, 0),
        &model("home/m"),
        at(2000),
    );
    assert!(matches!(outcome, LiveSwitch::Switch(_)));
    // The process dies here; the next reader of the session finds the choice and no mark.
    let consumed = consumed.unwrap();
    assert_eq!(
        consumed.override_ref(&model("home/m").provider().clone()),
        Some(model("a/m"))
    );
    let again = live_switch(
        &consumed,
        &run("b/m", Progress::Clean, 0),
        &model("home/m"),
        at(3000),
    );
    assert_eq!(again, (None, LiveSwitch::Unmarked));
}
