//! Long random interleavings of everything that can happen.

use proptest::prelude::*;

use crate::act::Act;
use crate::promise::broken;
use crate::world::{MODELS, PROFILES, World};

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let model = 0..MODELS.len();
    let resting = 0..PROFILES.len();
    let profile = || proptest::option::of(0..PROFILES.len());
    let run = 0..2_usize;
    let choice = (model.clone(), profile());
    let act = prop_oneof![
        2 => choice.clone().prop_map(|(model, profile)| Act::Choose { model, profile }),
        1 => Just(Act::ChooseDefault),
        1 => resting.clone().prop_map(|profile| Act::ChooseProfile { profile }),
        1 => Just(Act::KeepProfile),
        2 => Just(Act::ReadToChange),
        2 => choice.prop_map(|(model, profile)| Act::Commit { model, profile }),
        1 => any::<bool>().prop_map(|by_call| Act::Reset { by_call }),
        1 => any::<bool>().prop_map(|moves| Act::Compact { moves }),
        3 => run.clone().prop_map(|run| Act::Start { run }),
        6 => (run.clone(), model.clone(), profile())
            .prop_map(|(run, candidate, profile)| Act::Attempt { run, candidate, profile }),
        4 => run.clone().prop_map(|run| Act::Fail { run }),
        2 => run.prop_map(|run| Act::Succeed { run }),
        1 => model.clone().prop_map(|model| Act::LookForMark { model }),
        2 => (resting, any::<bool>()).prop_map(|(resting, first_turn)| Act::Pin { resting, first_turn }),
        1 => (model.clone(), model.clone())
            .prop_map(|(selected, active)| Act::FinishTurn { selected, active }),
        3 => model.clone().prop_map(|primary| Act::PlanProbe { primary }),
        2 => Just(Act::StartProbe),
        2 => Just(Act::ProbeAnswers),
        1 => model.clone().prop_map(|winner| Act::ProbeFails { winner }),
        1 => model.prop_map(|primary| Act::Heartbeat { primary }),
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
