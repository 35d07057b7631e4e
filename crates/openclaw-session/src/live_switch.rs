//! The live switch: a person changes the model while a run is busy (S-12, A6).

use jiff::Timestamp;
use openclaw_ids::ModelRef;

use crate::entry::ProfilePin;
use crate::entry::SessionEntry;

/// What a run uses, or what it should use instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSelection {
    /// The model.
    pub model: ModelRef,
    /// The requested runtime, if any.
    pub runtime: Option<String>,
    /// The profile pin, if any.
    pub profile: Option<ProfilePin>,
}

/// How much of the current attempt became visible outside of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Nothing was delivered, approved or called.
    Clean,
    /// Something was, so the attempt cannot be undone.
    Visible,
}

/// What a run does about a person's mark after an attempt (S-12.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LiveSwitch {
    /// The selection is what runs already; the mark is consumed.
    Satisfied,
    /// Use this instead; the mark is consumed first, so a crash in between loses the switch and never loops
    /// (hazard 9).
    Switch(RunSelection),
    /// There is no mark, whatever the entry says.
    Unmarked,
    /// The mark waits for the next clean point, or for the next turn when this run was redirected often enough.
    Waits,
}

/// How many times a person may redirect one run; a further switch waits for the next turn (A6).
pub const MAX_REDIRECTS: u32 = 2;

/// The state of a run that checks for a mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveRun {
    /// What it uses.
    pub running: RunSelection,
    /// How much of the current attempt is visible.
    pub progress: Progress,
    /// How many redirects it made already.
    pub redirects: u32,
}

/// Decides about a mark on the entry as it is stored now; the entry comes back when the mark was consumed.
///
/// `default` is the model of a session that neither has an override nor ever answered (S-12.2b).
pub fn live_switch(
    entry: &SessionEntry,
    run: &LiveRun,
    default: &ModelRef,
    now: Timestamp,
) -> (Option<SessionEntry>, LiveSwitch) {
    if !entry.live_model_switch_pending {
        return (None, LiveSwitch::Unmarked);
    }
    let wanted = RunSelection {
        model: entry
            .override_ref(default.provider())
            .or_else(|| entry.last_answer.model_ref())
            .unwrap_or_else(|| default.clone()),
        runtime: entry.agent_runtime_override.clone(),
        profile: entry.profile_pin(),
    };
    let same = wanted.model == run.running.model
        && same_runtime(wanted.runtime.as_deref(), run.running.runtime.as_deref())
        && wanted.profile == run.running.profile;
    let outcome = match (same, run.progress) {
        (true, _) => LiveSwitch::Satisfied,
        (false, Progress::Clean) if run.redirects < MAX_REDIRECTS => LiveSwitch::Switch(wanted),
        (false, Progress::Clean | Progress::Visible) => return (None, LiveSwitch::Waits),
    };
    let mut next = entry.clone();
    next.live_model_switch_pending = false;
    next.touch(now);
    (Some(next), outcome)
}

/// Where a switch that ended an attempt came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwitchOrigin {
    /// A person, by a mark that was just consumed.
    Marked,
    /// No person: a leftover, or a selection that fallback wrote itself (hazard 1).
    Unmarked,
}

/// What the chain does with a switch (A6, S-12.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redirect {
    /// Go to the target model, which the rest of the chain does not contain; strict from there on.
    Direct,
    /// Count the current candidate as failed and go on; see [`switch_message`].
    FailedCandidate,
    /// Go to the candidate at this index; strict from there on. Those in between are not tried.
    Jump(usize),
    /// Hand the switch to the caller: another runtime must take over.
    OtherRuntime,
}

/// The position of a run in its chain when a switch arrives.
#[derive(Debug, Clone, Copy)]
pub struct ChainPosition<'a> {
    /// The candidates of the run.
    pub chain: &'a [ModelRef],
    /// The index of the candidate whose attempt ended with the switch.
    pub current: usize,
    /// The runtime that candidate runs on.
    pub runtime: Option<&'a str>,
}

/// Decides what a switch to `target` does to a run (A6). A redirect is logged as such and counts as no failure.
pub fn redirect(target: &RunSelection, origin: SwitchOrigin, at: &ChainPosition<'_>) -> Redirect {
    if !same_runtime(target.runtime.as_deref(), at.runtime) {
        return Redirect::OtherRuntime;
    }
    match origin {
        SwitchOrigin::Unmarked => Redirect::FailedCandidate,
        SwitchOrigin::Marked => {
            let later = at.current.saturating_add(1);
            let mut rest = at.chain.iter().enumerate().skip(later);
            let found = rest.find(|(_, candidate)| **candidate == target.model);
            found.map_or(Redirect::Direct, |(index, _)| Redirect::Jump(index))
        }
    }
}

/// The error text of a candidate that ended with an unmarked switch; its reason is `unknown` (S-12.3).
pub fn switch_message(target: &ModelRef) -> String {
    format!("Live session model switch requested: {target}")
}

/// Runtime names that mean the same one (S-12.3).
const RUNTIME_NAMES: &[(&str, &str)] = &[
    ("auto", ""),
    ("codex-app-server", "codex"),
    ("default", ""),
    ("pi", "openclaw"),
];

fn same_runtime(one: Option<&str>, other: Option<&str>) -> bool {
    fn canonical(name: Option<&str>) -> &str {
        let name = name.unwrap_or_default();
        let found = RUNTIME_NAMES.iter().find(|(alias, _)| *alias == name);
        found.map_or(name, |(_, canonical)| *canonical)
    }
    canonical(one) == canonical(other)
}

#[cfg(test)]
mod tests;
