//! Every interleaving of a few steps, one after the other: what a random walk may miss.

use std::collections::HashSet;
use std::fmt::Write;
use std::hash::{DefaultHasher, Hasher};

use crate::action::Action;
use crate::invariants::broken;
use crate::world::World;

/// How many steps are played.
const DEPTH: usize = 6;

/// A person who picks the fallback's provider, the fallback itself or the default; two runs with the chain
/// `openai/gpt` (primary), `openai/o4`, `anthropic/claude`; a probe of the primary; resets and compactions.
const ACTIONS: &[Action] = &[
    Action::Choose {
        model: 0,
        profile: None,
    },
    Action::Choose {
        model: 1,
        profile: Some(0),
    },
    Action::ChooseDefault,
    Action::Reset { by_call: false },
    Action::Reset { by_call: true },
    Action::Compact { moves: true },
    Action::Start { run: 0 },
    Action::Attempt {
        run: 0,
        candidate: 1,
        profile: Some(1),
    },
    Action::Attempt {
        run: 0,
        candidate: 2,
        profile: None,
    },
    Action::Fail { run: 0 },
    Action::Succeed { run: 0 },
    Action::Start { run: 1 },
    Action::Attempt {
        run: 1,
        candidate: 2,
        profile: None,
    },
    Action::Fail { run: 1 },
    Action::PlanProbe { primary: 0 },
    Action::StartProbe,
    Action::ProbeAnswers,
];

#[test]
fn every_six_steps_of_a_session_without_a_choice_keep_every_promise() {
    explore("");
}

#[test]
fn every_six_steps_of_a_session_on_a_fallback_keep_every_promise() {
    explore(
        r#", "providerOverride": "openai", "modelOverride": "o4", "modelOverrideSource": "auto",
           "modelOverrideFallbackOriginProvider": "openai", "modelOverrideFallbackOriginModel": "gpt",
           "authProfileOverride": "a", "authProfileOverrideSource": "auto", "authProfileOverrideCompactionCount": 0"#,
    );
}

#[test]
fn every_six_steps_of_an_old_session_that_does_not_say_who_chose_keep_every_promise() {
    explore(r#", "providerOverride": "anthropic", "modelOverride": "claude", "authProfileOverride": "c""#);
}

/// Plays every sequence of [`DEPTH`] acts on a session with these members. Worlds that are equal have equal futures,
/// so each is visited once.
fn explore(members: &str) {
    let start = World::with(members);
    let mut known = HashSet::from([fingerprint(&start)]);
    let mut layer = vec![(start, Vec::new())];
    for depth in 1..=DEPTH {
        let mut next = Vec::new();
        for (world, path) in &layer {
            for act in ACTIONS {
                let mut after = world.clone();
                after.play(*act);
                if let Some(promise) = broken(world, *act, &after) {
                    panic!("{promise} by {path:?} and then {act:?}: {:#?}", after.entry);
                }
                if depth < DEPTH && after != *world && known.insert(fingerprint(&after)) {
                    next.push((after, [path.as_slice(), &[*act]].concat()));
                }
            }
        }
        layer = next;
    }
    // Fewer would mean that the steps no longer meet each other.
    assert!(known.len() > 2_000, "only {} different worlds", known.len());
}

struct Digest(DefaultHasher);

impl Write for Digest {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

fn fingerprint(world: &World) -> u64 {
    let mut digest = Digest(DefaultHasher::new());
    write!(digest, "{world:?}").unwrap();
    digest.0.finish()
}
