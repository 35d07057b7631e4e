//! Long random interleavings of everything that can happen.

use proptest::prelude::*;

use crate::action::Action;
use crate::invariants::broken;
use crate::world::{MODELS, PROFILES, World};

fn acts() -> impl Strategy<Value = Vec<Action>> {
    let model = 0..MODELS.len();
    let resting = 0..PROFILES.len();
    let profile = || proptest::option::of(0..PROFILES.len());
    let run = 0..2_usize;
    let choice = (model.clone(), profile());
    let act = prop_oneof![
        2 => choice.clone().prop_map(|(model, profile)| Action::Choose { model, profile }),
        1 => Just(Action::ChooseDefault),
        1 => resting.clone().prop_map(|profile| Action::ChooseProfile { profile }),
        1 => Just(Action::KeepProfile),
        2 => Just(Action::ReadToChange),
        2 => choice.prop_map(|(model, profile)| Action::Commit { model, profile }),
        1 => any::<bool>().prop_map(|by_call| Action::Reset { by_call }),
        1 => any::<bool>().prop_map(|moves| Action::Compact { moves }),
        3 => run.clone().prop_map(|run| Action::Start { run }),
        6 => (run.clone(), model.clone(), profile())
            .prop_map(|(run, candidate, profile)| Action::Attempt { run, candidate, profile }),
        4 => run.clone().prop_map(|run| Action::Fail { run }),
        2 => run.prop_map(|run| Action::Succeed { run }),
        1 => model.clone().prop_map(|model| Action::CheckSwitchMark { model }),
        2 => (resting, any::<bool>()).prop_map(|(resting, first_turn)| Action::Pin { resting, first_turn }),
        1 => (model.clone(), model.clone())
            .prop_map(|(selected, active)| Action::FinishTurn { selected, active }),
        3 => model.clone().prop_map(|primary| Action::PlanProbe { primary }),
        2 => Just(Action::StartProbe),
        2 => Just(Action::ProbeAnswers),
        1 => model.clone().prop_map(|winner| Action::ProbeFails { winner }),
        1 => model.prop_map(|primary| Action::Heartbeat { primary }),
    ];
    proptest::collection::vec(act, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_promise_holds_in_long_random_interleavings(acts in acts()) {
        let mut world = World::with("");
        for act in acts {
            let before = world.clone();
            world.play(act);
            let broken = broken(&before, act, &world);
            prop_assert!(broken.is_none(), "{act:?}: {broken:?}\nbefore: {before:#?}\nafter: {world:#?}");
        }
    }
}

/// A person picks again what a reset had kept, while another choice was stored: that is no change of the selection, so
/// the merge applies the rest, and the newer choice stays (S-12.4 item 5).
#[test]
fn s_12_4_a_choice_that_was_stored_when_it_was_read_does_not_undo_a_newer_one() {
    let mut world = World::with("");
    let pick = |model| Action::Choose { model, profile: None };
    let commit = Action::Commit {
        model: 2,
        profile: None,
    };
    for act in [
        pick(2),
        Action::Reset { by_call: true },
        Action::ReadToChange,
        pick(0),
        commit,
    ] {
        let before = world.clone();
        world.play(act);
        assert!(broken(&before, act, &world).is_none(), "{act:?}: {world:#?}");
    }
}
