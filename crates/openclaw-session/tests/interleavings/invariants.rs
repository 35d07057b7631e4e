//! What must hold after every step, whatever happened before.

use openclaw_session::{OverrideSource, PinSource, ProfilePin, SessionEntry};

use crate::action::Action;
use crate::world::{World, home};

/// The broken promise, if `act` led from `before` to a world that breaks one.
pub(crate) fn broken(before: &World, act: Action, after: &World) -> Option<&'static str> {
    let checks: [(bool, &'static str); 5] = [
        (keeps_the_choice(after), "a person's choice was lost"),
        (is_whole(after), "a choice is half applied"),
        (
            act.is_a_choice() || leaves_the_choice_alone(before, act, after),
            "the system rewrote a person's choice",
        ),
        (
            act.is_a_choice() || !marks(before, after),
            "the system marked a live switch",
        ),
        (
            after.is_busy() || is_accounted_for(after),
            "the override left behind neither answered nor was there before",
        ),
    ];
    checks.into_iter().find(|(holds, _)| !holds).map(|(_, text)| text)
}

fn persons_pin(entry: &SessionEntry) -> Option<ProfilePin> {
    entry.profile_pin().filter(|pin| pin.source == PinSource::User)
}

/// The chosen model and profile are the ones in effect. A profile that was chosen for the default model stands aside
/// while a fallback is in place (R5).
fn keeps_the_choice(world: &World) -> bool {
    let entry = &world.entry;
    let model_kept = world
        .chosen
        .as_ref()
        .is_none_or(|chosen| entry.is_user_pin() && entry.override_ref(&home()).as_ref() == Some(chosen));
    let profile_kept = world.pinned.as_ref().is_none_or(|pinned| {
        let kept = persons_pin(entry).is_some_and(|pin| pin.profile == *pinned);
        kept || (world.chosen.is_none() && entry.is_auto())
    });
    model_kept && profile_kept
}

/// There is no override, a person's, or an automatic one that leads back; the pin is complete.
fn is_whole(world: &World) -> bool {
    let entry = &world.entry;
    let route_is_whole = if world.chosen.is_some() {
        entry.origin().is_none()
    } else if entry.has_override() {
        entry.is_auto() && entry.has_auto_provenance() && entry.override_ref(&home()).is_some()
    } else {
        entry.model_override == openclaw_session::ModelOverride::default()
    };
    let pin = &entry.pin;
    let pin_is_whole = match pin.source {
        Some(PinSource::Auto) => pin.profile.is_some(),
        Some(PinSource::User) => pin.profile.is_some() && pin.compaction_count.is_none(),
        None => pin.compaction_count.is_none(),
    };
    route_is_whole && pin_is_whole
}

/// A reset may say of an old entry that it is a person's; nothing else about a person's override changes.
fn leaves_the_choice_alone(before: &World, act: Action, after: &World) -> bool {
    if !before.entry.is_user_pin() {
        return after.entry.model_override.source != Some(OverrideSource::User);
    }
    let mut expected = before.entry.model_override.clone();
    if let Action::Reset { .. } = act {
        expected.source = Some(OverrideSource::User);
    }
    after.entry.model_override == expected
}

fn marks(before: &World, after: &World) -> bool {
    after.entry.live_model_switch_pending && !before.entry.live_model_switch_pending
}

fn is_accounted_for(world: &World) -> bool {
    let left = world
        .entry
        .override_ref(&home())
        .filter(|_| world.entry.is_auto());
    left.is_none_or(|left| world.accounted_for.contains(&left))
}
