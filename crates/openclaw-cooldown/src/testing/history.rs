//! Random histories of failures.

use openclaw_classify::Reason;
use proptest::prelude::*;

use super::{DAY, HOUR, failure};
use crate::{FailureEvent, MarkScope, ProfileUsage};

fn reasons() -> impl Strategy<Value = Reason> {
    proptest::sample::select(Reason::all().collect::<Vec<_>>())
}

pub(crate) fn event() -> impl Strategy<Value = FailureEvent> {
    let scopes = proptest::sample::select(&[MarkScope::Model, MarkScope::Profile]);
    let models = proptest::sample::select(&["a", "b"]);
    let hints = proptest::option::of(-HOUR..40 * DAY);
    (
        reasons(),
        scopes,
        proptest::option::of(models),
        hints,
        proptest::option::of(-DAY..DAY),
    )
        .prop_map(|(reason, scope, model, hint, started)| {
            let mut event = failure(reason);
            event.scope = scope;
            event.model = None;
            let event = model.map_or(event.clone(), |model| event.of(model));
            let event = hint.map_or(event.clone(), |hint| event.hinting(hint));
            started.map_or(event.clone(), |started| event.started(started))
        })
}

/// A state after some failures, at times in any order: the clock may go backwards.
pub(crate) fn state() -> impl Strategy<Value = ProfileUsage> {
    proptest::collection::vec((-DAY..3 * DAY, event()), 0..12).prop_map(|history| {
        history
            .into_iter()
            .fold(ProfileUsage::default(), |usage, (now, event)| {
                usage.failed(now, &event)
            })
    })
}
