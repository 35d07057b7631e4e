//! Runs with limits, image chains and larger models.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use openclaw_chain::Requested;
use openclaw_classify::{Failure, Reason};

use super::super::*;
use super::rules::{model, play, status};
use super::world::{Ending, Trace, World};
use crate::request::{ChainKind, LargerContext, RunLimits, RunOptions, RunSettings};

#[test]
fn a8_a_run_is_over_at_its_deadline_and_after_its_attempts() {
    let attempts = |number| RunLimits {
        attempts: NonZeroUsize::new(number),
        duration: None,
    };
    let time = |millis| RunLimits {
        attempts: None,
        duration: Some(Duration::from_millis(millis)),
    };
    // Each attempt takes 7 ms.
    for (limits, calls, limit) in [
        (attempts(1), 1, Some(RunLimit::Attempts)),
        (attempts(2), 2, Some(RunLimit::Attempts)),
        (attempts(3), 3, None),
        (time(13), 2, Some(RunLimit::Deadline)),
        (time(14), 2, Some(RunLimit::Deadline)),
        (time(15), 3, None),
    ] {
        let mut world = World::new(&HashMap::new());
        let settings = RunSettings {
            limits,
            ..RunSettings::default()
        };
        world.policy = Arc::new(RunPolicy {
            settings,
            ..RunPolicy::default()
        });
        let failures = vec![status(503), status(503), status(503)];
        let trace = play(&mut world, &["openai/gpt", "groq/llama", "local/qwen"], failures);
        let ended_by = match trace.outcome {
            Outcome::LimitReached(limit, summary, _) => {
                assert_eq!(summary.attempts.len(), calls);
                Some(limit)
            }
            _ => None,
        };
        assert_eq!((trace.calls.len(), ended_by), (calls, limit), "{limits:?}");
    }
}

#[test]
fn a8_the_stricter_limit_holds() {
    let run = RunLimits {
        attempts: NonZeroUsize::new(5),
        duration: None,
    };
    let settings = RunLimits {
        attempts: NonZeroUsize::new(3),
        duration: Some(Duration::from_secs(9)),
    };
    assert_eq!(run.and(settings), settings);
    assert_eq!(settings.and(run), settings);
    assert_eq!(run.and(RunLimits::default()), run);
}

/// Plays one run of an image chain.
fn play_images(world: &mut World, chain: &[&str], failures: Vec<Failure>) -> Trace {
    let chain: Vec<_> = chain.iter().map(|text| model(text)).collect();
    let options = RunOptions {
        kind: ChainKind::Image,
        ..RunOptions::default()
    };
    let request = RunRequest {
        requested: Requested::default(),
        chain,
        ..World::request(&[model("any/model")])
    };
    world.play_with(request, &options, &mut failures.into_iter().map(Ending::from))
}

fn overflow() -> Failure {
    Failure {
        status: Some(400),
        code: Some("context_length_exceeded".to_owned()),
        ..Failure::default()
    }
}

#[test]
fn r_10_5_an_image_chain_asks_each_model_whatever_rests() {
    let mut world = World::new(&HashMap::from([("openai", 1), ("groq", 1)]));
    play(
        &mut world,
        &["openai/gpt", "groq/llama"],
        vec![status(401), status(402)],
    );
    let strange = Failure {
        message: Some("Something strange happened".to_owned()),
        ..Failure::default()
    };
    let trace = play_images(
        &mut world,
        &["openai/gpt", "groq/llama", "local/qwen"],
        vec![overflow(), status(402), strange],
    );
    let positions: Vec<_> = trace.calls.iter().map(|(position, _)| *position).collect();
    assert_eq!(positions, [0, 1, 2]);
    let Outcome::Exhausted(summary, report) = trace.outcome else {
        panic!("{:?}", trace.outcome)
    };
    assert!(
        summary
            .to_string()
            .starts_with("All image models failed (3): openai/gpt: "),
        "{summary}"
    );
    assert_eq!(
        (summary.soonest_cooldown_expiry, report.soonest_cooldown_expiry),
        (None, None)
    );
}

#[test]
fn r_10_5_an_image_chain_of_none_says_what_to_configure() {
    let mut world = World::new(&HashMap::new());
    let Outcome::Exhausted(summary, _) = play_images(&mut world, &[], vec![]).outcome else {
        panic!("no summary")
    };
    assert!(summary.to_string().contains("imageModel.primary"), "{summary}");
}

#[test]
fn a7_an_overflow_goes_on_to_a_model_that_is_known_to_be_larger() {
    let windows = |sizes: &[(&str, u64)]| sizes.iter().map(|(name, size)| (model(name), *size)).collect();
    let chain = ["a/small", "b/smaller", "c/unknown", "d/large"];
    let known = [("a/small", 100), ("b/smaller", 50), ("d/large", 200)];
    for (sizes, prompt_tokens, calls) in [
        (&known[..], None, vec![0, 3]),
        (&known, Some(150), vec![0, 3]),
        (&known, Some(200), vec![0, 3]),
        (&known, Some(201), vec![0]),
        (&[("d/large", 200)], Some(150), vec![0, 3]),
        (&[("d/large", 200)], None, vec![0]),
        (&[("a/small", 100), ("d/large", 100)], None, vec![0]),
        (&[("a/small", 100), ("d/large", 101)], None, vec![0, 3]),
    ] {
        let mut world = World::new(&HashMap::new());
        let chain: Vec<_> = chain.iter().map(|name| model(name)).collect();
        let options = RunOptions {
            larger_context: Some(LargerContext {
                windows: windows(sizes),
                prompt_tokens,
            }),
            ..RunOptions::default()
        };
        let trace = world.play_with(
            World::request(&chain),
            &options,
            &mut [Ending::from(overflow())].into_iter(),
        );
        let positions: Vec<_> = trace.calls.iter().map(|(position, _)| *position).collect();
        assert_eq!(positions, calls, "{sizes:?} {prompt_tokens:?}");
        match trace.outcome {
            Outcome::Completed(_, report) => {
                assert_eq!(
                    report.attempts.len(),
                    3,
                    "the small ones are accounted for (BL-54)"
                );
            }
            Outcome::Surfaced(attempt, _) => assert_eq!(attempt.verdict.reason, Reason::ContextOverflow),
            outcome => panic!("{outcome:?}"),
        }
    }
}

#[test]
fn a7_off_by_default() {
    let mut world = World::new(&HashMap::new());
    let trace = play(&mut world, &["a/small", "d/large"], vec![overflow()]);
    assert!(matches!(trace.outcome, Outcome::Surfaced(..)));
}

#[test]
fn x_2_a_candidate_that_manages_its_own_credentials_is_asked_whatever_rests_and_marks_nothing() {
    let mut world = World::new(&HashMap::from([("openai", 2)]));
    play(&mut world, &["openai/gpt"], vec![status(401), status(401)]);
    let options = RunOptions {
        own_auth: ["openai".parse().unwrap()].into(),
        ..RunOptions::default()
    };
    let chain = [model("openai/gpt"), model("groq/llama")];
    let refused = Failure {
        transport: Some(openclaw_classify::Transport::Refused),
        ..Failure::default()
    };
    for failure in [status(401), refused] {
        let marks = world.snapshot.clone();
        let trace = world.play_with(
            World::request(&chain),
            &options,
            &mut [Ending::from(failure)].into_iter(),
        );
        assert_eq!(trace.calls, [(0, None), (1, None)]);
        assert_eq!(
            (&world.snapshot.usage, &world.snapshot.endpoints),
            (&marks.usage, &marks.endpoints)
        );
    }
}

#[test]
fn bl_54_fallbacks_that_are_known_not_to_serve_the_request_are_not_asked() {
    use openclaw_chain::Shortfall::{Images, Tools, Window};
    let chain = ["a/small", "b/blind", "c/idle", "d/tiny", "e/fits"].map(model);
    let window = Window {
        holds: 131_072,
        needs: 300_000,
    };
    let mut world = World::new(&HashMap::new());
    let options = RunOptions {
        // The requested model is asked all the same: what is known of the prompt is a guess.
        incompatible: HashMap::from([
            (chain[0].clone(), window),
            (chain[1].clone(), Images),
            (chain[2].clone(), Tools),
            (chain[3].clone(), window),
        ]),
        ..RunOptions::default()
    };
    let trace = world.play_with(
        World::request(&chain),
        &options,
        &mut [Ending::from(status(503))].into_iter(),
    );
    let positions: Vec<_> = trace.calls.iter().map(|(position, _)| *position).collect();
    assert_eq!(positions, [0, 4]);
    let Outcome::Completed(_, report) = trace.outcome else {
        panic!("{:?}", trace.outcome)
    };
    let left: Vec<_> = report
        .attempts
        .iter()
        .map(|record| (record.reason.unwrap(), record.error.as_str()))
        .collect();
    assert_eq!(left[1].0, Reason::Format);
    assert_eq!(
        left[3],
        (
            Reason::ContextOverflow,
            "Skipping d/tiny: its context window holds 131072 tokens and 300000 are needed"
        )
    );
}

/// One run of a chain of one that may wait this long.
fn play_alone(world: &mut World, chain: &[&str], longest: Option<u64>, failures: Vec<Failure>) -> Trace {
    let chain: Vec<_> = chain.iter().map(|name| model(name)).collect();
    let options = RunOptions {
        wait_for_reset: longest.map(Duration::from_secs),
        ..RunOptions::default()
    };
    let mut endings = failures.into_iter().map(Ending::from);
    world.play_with(World::request(&chain), &options, &mut endings)
}

#[test]
fn bl_91_the_only_candidate_is_waited_for_when_that_is_wished() {
    let limited = || super::rules::limited_for(3_600);
    let hour = Duration::from_hours(1);
    for (chain, longest, failures, calls, waits) in [
        (&["openai/gpt"][..], None, vec![limited()], 1, vec![]),
        (&["openai/gpt"], Some(7_200), vec![limited()], 2, vec![hour]),
        (
            &["openai/gpt"],
            Some(7_200),
            vec![limited(), limited()],
            3,
            vec![hour; 2],
        ),
        // The second wait would be too long.
        (
            &["openai/gpt"],
            Some(7_199),
            vec![limited(), limited()],
            2,
            vec![hour],
        ),
        (&["openai/gpt"], Some(3_599), vec![limited()], 1, vec![]),
        // Another candidate is better than waiting, and no credential comes back by itself.
        (
            &["openai/gpt", "groq/llama"],
            Some(7_200),
            vec![limited()],
            2,
            vec![],
        ),
        (&["openai/gpt"], Some(7_200), vec![status(401)], 1, vec![]),
    ] {
        let mut world = World::new(&HashMap::from([("openai", 1)]));
        let trace = play_alone(&mut world, chain, longest, failures);
        assert_eq!(
            (trace.calls.len(), trace.waits),
            (calls, waits),
            "{chain:?} {longest:?}"
        );
    }
}

#[test]
fn bl_91_a_candidate_that_rests_already_is_waited_for_before_it_is_asked() {
    let mut world = World::new(&HashMap::from([("openai", 1)]));
    play(&mut world, &["openai/gpt"], vec![super::rules::limited_for(600)]);
    world.pass(100_000);
    let trace = play_alone(&mut world, &["openai/gpt"], Some(3_600), vec![]);
    assert_eq!(
        (trace.calls.len(), trace.waits),
        (1, vec![Duration::from_secs(500)])
    );
    let Outcome::Completed(_, report) = trace.outcome else {
        panic!("{:?}", trace.outcome)
    };
    assert_eq!(report.events.len(), 2, "the wait and the success");
}

#[test]
fn bl_91_waits_come_to_an_end() {
    let mut world = World::new(&HashMap::from([("openai", 1)]));
    let trace = play_alone(
        &mut world,
        &["openai/gpt"],
        Some(u64::MAX / 2),
        vec![status(429); 40],
    );
    assert_eq!((trace.calls.len(), trace.waits.len()), (17, 16));
    assert!(matches!(trace.outcome, Outcome::Failed(..)));
}
