//! What runs may do to usage state and sessions, and what they must make of it.

use openclaw_classify::Reason;

use super::Held;
use crate::check::oracle;
use crate::faults::provider::Marks;
use crate::faults::store_outage::File;
use crate::trace::{Ending, Event, Kind, Trace};

/// What the texts of skips begin with that are about the run and not about windows.
const ABOUT_THE_RUN: &str = "Skipping ";

/// BL-51, R-3.3.
pub(super) fn no_silent_skip(trace: &Trace) -> Held {
    if trace.is_redirected() {
        return Held::Aside;
    }
    let mut held = Held::Aside;
    for skip in trace.decisions().filter(|decided| decided.kind == Kind::Skipped) {
        held = Held::Yes;
        if skip.reason.is_none() {
            return Held::Broken(format!(
                "candidate {} was skipped without a reason",
                skip.candidate
            ));
        }
        if skip.text.starts_with(ABOUT_THE_RUN) {
            continue;
        }
        let credentials = trace.credentials(skip.candidate);
        let now = skip.at + trace.ahead;
        if oracle::is_free(&skip.view, &trace.chain[skip.candidate], &credentials, now) {
            return Held::Broken(format!(
                "candidate {} was skipped ({}) although one of {credentials:?} is free",
                skip.candidate, skip.text
            ));
        }
    }
    held
}

/// R1, R2.
pub(super) fn no_rest_broken(trace: &Trace) -> Held {
    let mut held = Held::Aside;
    let mut is_again = false;
    for event in &trace.events {
        match event {
            Event::Again => is_again = true,
            Event::Called(index) => {
                let call = &trace.calls[*index];
                if std::mem::take(&mut is_again) || call.is_probe {
                    continue;
                }
                held = Held::Yes;
                let (candidate, now) = (&trace.chain[call.candidate], call.began + trace.ahead);
                let asked: Vec<&str> = call.profile.iter().map(String::as_str).collect();
                if !oracle::is_free(&call.view, candidate, &asked, now) {
                    return Held::Broken(format!("call {index} asked {asked:?}, which rests"));
                }
            }
            Event::DecisionEvent(_)
            | Event::Ended(_)
            | Event::Leased(..)
            | Event::Lost(_)
            | Event::Redirected
            | Event::Rotated
            | Event::Wrote(..) => {}
        }
    }
    held
}

/// R1, BL-95.
pub(super) fn rotation(trace: &Trace) -> Held {
    // What surfaced had been seen by then, or every model would repeat it.
    let stopped = matches!(trace.ending, Ending::Limited | Ending::Surfaced);
    let is_bound = trace.pinned.is_some() || trace.is_redirected() || stopped;
    if is_bound {
        return Held::Aside;
    }
    let mut held = Held::Aside;
    let mut probed = usize::MAX;
    for decided in trace.decisions() {
        match (decided.kind, decided.reason) {
            (Kind::Probed, _) => probed = decided.candidate,
            (Kind::Failed, Some(Reason::Auth | Reason::AuthPermanent | Reason::Billing))
                if decided.candidate != probed && trace.chain[decided.candidate].profiles.len() > 1 =>
            {
                held = Held::Yes;
                let candidate = &trace.chain[decided.candidate];
                let now = decided.at + trace.ahead;
                let asked = |profile: &String| {
                    let mut calls = trace.calls.iter();
                    calls.any(|call| {
                        call.candidate == decided.candidate && call.profile.as_ref() == Some(profile)
                    })
                };
                let first = trace
                    .calls
                    .iter()
                    .find(|call| call.candidate == decided.candidate)
                    .map_or(now, |call| call.began + trace.ahead);
                // Who rested when the candidate was entered is not looked at again.
                let is_free =
                    |profile, at| oracle::held(&decided.view, profile, &candidate.model, at).is_empty();
                // While its endpoint cools down a provider is not called, with no credential.
                if oracle::endpoint(&decided.view, &candidate.provider, now).is_some() {
                    continue;
                }
                let left = candidate
                    .profiles
                    .iter()
                    .find(|profile| is_free(profile, first) && is_free(profile, now) && !asked(profile));
                if let Some(left) = left {
                    return Held::Broken(format!("{left} is free and was not asked"));
                }
            }
            (Kind::Failed | Kind::Skipped | Kind::Succeeded, _) => {}
        }
    }
    held
}

/// C-10, BL-32, BL-40, R3.
pub(super) fn marks(trace: &Trace) -> Held {
    if trace.calls.is_empty() {
        return Held::Aside;
    }
    let mut due: Option<(Marks, Option<String>)> = None;
    for event in &trace.events {
        match event {
            Event::Ended(index) => {
                let call = &trace.calls[*index];
                let profile = call.profile.clone();
                due = match call.fate.marks() {
                    Marks::Nothing => None,
                    Marks::Endpoint => Some((Marks::Endpoint, None)),
                    // Without a credential there is nothing to mark.
                    Marks::Profile => profile.map(|profile| (Marks::Profile, Some(profile))),
                };
            }
            Event::Wrote(marks, profile) => match due.take() {
                Some(expected) if expected == (*marks, profile.clone()) => {}
                Some(expected) => {
                    return Held::Broken(format!("{marks:?} of {profile:?} written, {expected:?} was due"));
                }
                None => {
                    return Held::Broken(format!("{marks:?} of {profile:?} written, and nothing was due"));
                }
            },
            Event::Called(index) => {
                if let Some(due) = &due {
                    return Held::Broken(format!("call {index} began before {due:?} was written"));
                }
            }
            Event::Again
            | Event::DecisionEvent(_)
            | Event::Leased(..)
            | Event::Lost(_)
            | Event::Redirected
            | Event::Rotated => {}
        }
    }
    match due {
        Some(due) if trace.is_whole() => Held::Broken(format!("{due:?} was never written")),
        _ => Held::Yes,
    }
}

/// D15.
pub(super) fn soonest(trace: &Trace) -> Held {
    let Some(report) = trace
        .report
        .as_ref()
        .filter(|_| trace.is_whole() && !trace.is_redirected())
    else {
        return Held::Aside;
    };
    let now = trace.ended + trace.ahead;
    let back = |index: usize| oracle::back(&trace.view, &trace.chain[index], &trace.credentials(index), now);
    let expected = (0..trace.chain.len()).filter_map(back).min();
    let told = report
        .soonest_cooldown_expiry
        .map(jiff::Timestamp::as_millisecond);
    if told != expected {
        return Held::Broken(format!(
            "the soonest end is told as {told:?} and is {expected:?}; now is {now} ({:?})",
            trace.ending
        ));
    }
    if expected.is_none() {
        Held::Aside
    } else {
        Held::Yes
    }
}

/// S-8, R5, BL-69.
pub(super) fn pins(trace: &Trace) -> Held {
    match &trace.pins {
        None => Held::Aside,
        Some((chosen, found)) if chosen == found => Held::Yes,
        Some((chosen, found)) => Held::Broken(format!("chosen {chosen:?}, found {found:?}")),
    }
}

/// S-4, S1.
pub(super) fn rolled_back(trace: &Trace) -> Held {
    let answered = matches!(
        trace.ending,
        Ending::Answered { .. } | Ending::Crashed | Ending::Preserved
    );
    match trace.selection.as_ref().filter(|_| !trace.lost(File::Sessions)) {
        Some((before, after)) if !answered && before != after => Held::Broken(format!(
            "the selection was {before} and is {after} ({:?})",
            trace.ending
        )),
        Some(_) if !answered => Held::Yes,
        _ => Held::Aside,
    }
}

/// S-4.6, S-13 hazard 6.
pub(super) fn overlap(trace: &Trace) -> Held {
    let Some(overlap) = &trace.overlap else {
        return Held::Aside;
    };
    let after = &overlap.after;
    let is_written = |model: &Option<String>| {
        model
            .as_ref()
            .is_some_and(|model| overlap.written.contains(model))
    };
    let is_known_origin = is_written(&after.origin) || after.origin == overlap.before.origin;
    let is_whole = match after.source.as_deref() {
        None => after.model.is_none() && after.origin.is_none(),
        Some("auto") => is_written(&after.model) && after.origin.is_some() && is_known_origin,
        Some(_) => false,
    };
    if is_whole || *after == overlap.before {
        Held::Yes
    } else {
        Held::Broken(format!("{overlap:?}"))
    }
}
