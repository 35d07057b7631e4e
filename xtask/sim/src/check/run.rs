//! What the walk over the chain must look like.

use openclaw_history::replay::{ReplayOverrides, replay};
use openclaw_runner::CandidateOutcome;
use openclaw_runner::RunEvent;

use super::Held;
use crate::faults::store_outage::File;
use crate::trace::{CallOutcome, Ending, Event, Kind, Trace};

/// A8, R-9.9.
pub(super) fn budget(trace: &Trace) -> Held {
    let calls = trace.calls.len();
    if let Some(most) = trace.max_attempts.filter(|most| calls > *most) {
        return Held::Broken(format!("{calls} calls, and {most} were allowed"));
    }
    if let Some(end) = trace.max_duration.map(|limit| trace.began + limit) {
        for (number, call) in trace.calls.iter().enumerate() {
            if call.began >= end {
                return Held::Broken(format!(
                    "call {number} began {} ms after the run's time was over",
                    call.began - end
                ));
            }
            if call.ended.is_some_and(|ended| ended > end) {
                return Held::Broken(format!("call {number} went on after the run's time was over"));
            }
        }
    }
    let again = trace.repetitions();
    let most: usize = (0..trace.chain.len())
        .map(|candidate| trace.chain[candidate].profiles.len().max(1))
        .sum();
    // A last resort asks a candidate that was not asked before.
    if calls > most + again {
        return Held::Broken(format!(
            "{calls} calls for {most} credentials and {again} repetitions"
        ));
    }
    Held::Yes
}

/// BL-51, R-9.3, BL-30.
pub(super) fn one_visit(trace: &Trace) -> Held {
    let mut visits: Vec<usize> = trace.calls.iter().map(|call| call.candidate).collect();
    visits.dedup();
    let last_resort = trace
        .decisions()
        .find(|decided| decided.last_resort)
        .map(|decided| decided.candidate);
    if last_resort.is_some() && visits.last() == last_resort.as_ref() {
        visits.pop();
        if visits.contains(&last_resort.unwrap_or(usize::MAX)) {
            return Held::Broken(format!("the last resort had been asked before: {visits:?}"));
        }
    }
    if !visits.is_sorted_by(|one, next| one < next) {
        return Held::Broken(format!("the candidates were asked in the order {visits:?}"));
    }
    let again = trace.repetitions();
    let mut asked: Vec<_> = trace
        .calls
        .iter()
        .map(|call| (call.candidate, &call.profile))
        .collect();
    asked.sort();
    asked.dedup();
    if asked.len() + again < trace.calls.len() {
        return Held::Broken("a credential was asked twice".to_owned());
    }
    Held::Yes
}

/// BL-51, R-1.3.
pub(super) fn one_record(trace: &Trace) -> Held {
    let Some(report) = trace
        .report
        .as_ref()
        .filter(|_| trace.is_whole() && !trace.is_redirected())
    else {
        return Held::Aside;
    };
    let position = |record: &openclaw_runner::AttemptRecord| {
        trace.chain.iter().position(|candidate| {
            (
                record.candidate.provider().as_str(),
                record.candidate.model().as_str(),
            ) == (candidate.provider.as_str(), candidate.model.as_str())
        })
    };
    let recorded: Vec<usize> = report.attempts.iter().filter_map(position).collect();
    let resorted = trace.decisions().any(|decided| decided.last_resort);
    let all = 0..trace.chain.len();
    let expected: Vec<usize> = match trace.ending {
        Ending::Exhausted | Ending::Failed | Ending::Preserved => all.collect(),
        Ending::Aborted if resorted => {
            let last = trace.calls.last().map(|call| call.candidate);
            all.filter(|other| Some(*other) != last).collect()
        }
        Ending::Limited | Ending::Surfaced if resorted => all.collect(),
        Ending::Answered { candidate } if resorted => all.filter(|other| *other != candidate).collect(),
        Ending::Answered { candidate } => (0..candidate).collect(),
        // It stopped somewhere; what it came to has its record.
        Ending::Aborted | Ending::Crashed | Ending::Dropped | Ending::Limited | Ending::Surfaced => {
            (0..recorded.len()).collect()
        }
    };
    if recorded != expected {
        return Held::Broken(format!(
            "records of {recorded:?} where {expected:?} were due ({:?})",
            trace.ending
        ));
    }
    for (record, candidate) in report.attempts.iter().zip(&recorded) {
        let called = trace.calls.iter().any(|call| call.candidate == *candidate);
        if called != (record.outcome == CandidateOutcome::Failed) {
            return Held::Broken(format!(
                "candidate {candidate} is recorded as {:?}",
                record.outcome
            ));
        }
        if record.outcome == CandidateOutcome::Skipped && record.reason.is_none() {
            return Held::Broken(format!("candidate {candidate} was skipped without a reason"));
        }
    }
    Held::Yes
}

/// G4, BL-42.
pub(super) fn one_probe(trace: &Trace) -> Held {
    let mut probes = trace.calls.iter().filter(|call| call.is_probe).peekable();
    if !trace.leases_hold || probes.peek().is_none() {
        return Held::Aside;
    }
    match probes.find(|call| call.other_probes > 0) {
        Some(call) => Held::Broken(format!(
            "a probe of candidate {} began while {} others were in flight",
            call.candidate, call.other_probes
        )),
        None => Held::Yes,
    }
}

/// G4.
pub(super) fn no_lease_left(trace: &Trace) -> Held {
    // What could not be given back ends by itself.
    if trace.ending == Ending::Crashed
        || trace.lost(File::Usage)
        || !trace.decisions().any(|decided| decided.kind == Kind::Probed)
    {
        return Held::Aside;
    }
    if trace.holds_lease {
        return Held::Broken("the run is over and holds a lease".to_owned());
    }
    Held::Yes
}

/// G4, also when the store cannot be written.
pub(super) fn leased(trace: &Trace) -> Held {
    let mut held = Held::Aside;
    let mut given: Option<&str> = None;
    for event in &trace.events {
        match event {
            Event::Leased(provider, true) => given = Some(provider),
            Event::Leased(_, false) => {
                held = Held::Yes;
                given = None;
            }
            Event::Called(index) => {
                let call = &trace.calls[*index];
                let provider = &trace.chain[call.candidate].provider;
                if call.is_probe {
                    held = Held::Yes;
                    if given != Some(provider) {
                        return Held::Broken(format!("call {index} probes {provider} without its lease"));
                    }
                }
            }
            Event::Again
            | Event::DecisionEvent(_)
            | Event::Ended(_)
            | Event::Lost(_)
            | Event::Redirected
            | Event::Rotated
            | Event::Wrote(..) => {}
        }
    }
    held
}

/// An answer is worth more than a mark.
pub(super) fn unharmed(trace: &Trace) -> Held {
    let is_concerned = trace.is_whole() && (trace.lost(File::Usage) || trace.lost(File::Sessions));
    let Some(last) = trace.calls.last().filter(|_| is_concerned) else {
        return Held::Aside;
    };
    match (last.fate, trace.ending) {
        (CallOutcome::Answered, Ending::Answered { candidate }) if candidate == last.candidate => Held::Yes,
        (CallOutcome::Answered, ending) => Held::Broken(format!(
            "candidate {} answered, and a write was lost: {ending:?}",
            last.candidate
        )),
        (CallOutcome::Dropped | CallOutcome::Flawed(_) | CallOutcome::Troubled(_), _) => Held::Yes,
    }
}

/// A record is enough to play a run again.
pub(super) fn replayed(trace: &Trace) -> Held {
    let (Some(recording), Some(report)) = (&trace.recording, &trace.report) else {
        return Held::Aside;
    };
    let kept = serde_json::to_string(recording).and_then(|text| serde_json::from_str(&text));
    let recording = match kept {
        Ok(recording) => recording,
        Err(error) => return Held::Broken(format!("the recording cannot be kept: {error}")),
    };
    match replay(&recording, &ReplayOverrides::default()) {
        Err(error) => Held::Broken(error.to_string()),
        Ok(again) if lines(&again.report.events) != lines(&report.events) => Held::Broken(format!(
            "decided otherwise:\n{}\nthan it did:\n{}",
            lines(&again.report.events),
            lines(&report.events)
        )),
        Ok(again) if again.report != *report => Held::Broken("reports something else".to_owned()),
        Ok(_) => Held::Yes,
    }
}

fn lines(events: &[RunEvent]) -> String {
    let line = |event: &RunEvent| match event {
        RunEvent::Candidate(decision) => serde_json::to_string(decision),
        RunEvent::Rotation(rotation) => serde_json::to_string(rotation),
    };
    events
        .iter()
        .filter_map(|event| line(event).ok())
        .collect::<Vec<_>>()
        .join("\n")
}
