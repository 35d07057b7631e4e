//! What a session remembers of a turn that was answered (S-6.7, S-10, S-11.4, S-12.2c).

use std::sync::Arc;

use jiff::Timestamp;
use openclaw_ids::ModelRef;
use openclaw_session::{
    FailedAttempt, FinishedTurn, LiveRun, NoticeState, NoticeTransition, Progress, RunSelection,
    SessionEntry, clear_after_probe, live_switch, notice_transition, reason_summary, record_answer,
    record_notice, record_served_profile, selected_model,
};

use crate::driver::active_sessions::ActiveSession;
use crate::machine::Winner;
use crate::record::summary::AttemptRecord;

/// An answered turn of a session.
pub(crate) struct CommittedTurn {
    pub(crate) busy: Arc<ActiveSession>,
    /// The model that the run was asked for; none for a run without candidates.
    requested: Option<ModelRef>,
    /// Why it did not answer, in the few words that people read.
    reason: String,
}

impl CommittedTurn {
    /// A turn of `busy`; `failed` are the candidates that did not answer it.
    pub(crate) fn new(
        busy: Arc<ActiveSession>,
        requested: Option<ModelRef>,
        failed: &[AttemptRecord],
    ) -> Self {
        let failed: Vec<FailedAttempt<'_>> = failed
            .iter()
            .map(|record| FailedAttempt {
                model: &record.candidate,
                reason: record.reason.map(openclaw_classify::Reason::as_str),
                code: record.code.as_deref(),
                status: record.status,
                error: &record.error,
            })
            .collect();
        Self {
            busy,
            requested,
            reason: reason_summary(&failed),
        }
    }

    /// The session when the first content of a stream is shown. Only that another model answers is certain by then;
    /// the rest is for the end (S9).
    pub(crate) fn begun(&self, entry: &SessionEntry, winner: &Winner, now: Timestamp) -> SessionEntry {
        let turn = self.turn(entry, winner);
        match notice_transition(&entry.notice, &turn.selected, &turn.active) {
            NoticeTransition::Entered => self.told(entry.clone(), &entry.notice, winner, now),
            NoticeTransition::Cleared | NoticeTransition::None | NoticeTransition::Sticky => entry.clone(),
        }
    }

    /// The session after a good answer: a probed primary that answered ends the automatic override (S-6.7), a person's
    /// mark for the model that just answered is done with (S-12.2c), the answer is remembered, and people are told what
    /// changed since they were last told, which is read before the probe clears it (S-10.3c, S4).
    pub(crate) fn finished(&self, entry: &SessionEntry, winner: &Winner, now: Timestamp) -> SessionEntry {
        let before = entry.notice.clone();
        let next = self.settled(entry, winner, now);
        let next = if self.busy.session.kind.records_answer() {
            let next = record_answer(&next, &entry.session_id, &winner.candidate, now).unwrap_or(next);
            let served = winner
                .profile
                .as_ref()
                .and_then(|profile| record_served_profile(&next, winner.candidate.provider(), profile));
            served.unwrap_or(next)
        } else {
            next
        };
        self.told(next, &before, winner, now)
    }

    fn settled(&self, entry: &SessionEntry, winner: &Winner, now: Timestamp) -> SessionEntry {
        let probe = self.busy.session.probe.as_ref().filter(|_| winner.index == 0);
        let cleared = probe.and_then(|probe| clear_after_probe(entry, probe, now));
        let current = cleared.unwrap_or_else(|| entry.clone());
        let pin = current.profile_pin();
        let run = LiveRun {
            running: RunSelection {
                model: winner.candidate.clone(),
                runtime: current.agent_runtime_override.clone(),
                profile: pin.filter(|pin| Some(&pin.profile) == winner.profile.as_ref()),
            },
            // The answer stands, so a mark for another model waits for the next turn.
            progress: Progress::Visible,
            redirects: 0,
        };
        let (consumed, _) = live_switch(&current, &run, &winner.candidate, now);
        consumed.unwrap_or(current)
    }

    fn told(
        &self,
        entry: SessionEntry,
        before: &NoticeState,
        winner: &Winner,
        now: Timestamp,
    ) -> SessionEntry {
        if !self.busy.session.kind.rights().notifies {
            return entry;
        }
        let turn = self.turn(&entry, winner);
        let (next, _) = record_notice(&entry, before, &turn, now);
        next.unwrap_or(entry)
    }

    /// The turn as people see it. A model that a person chose while the run went on,
    /// and that then answered, is the selected one.
    fn turn(&self, entry: &SessionEntry, winner: &Winner) -> FinishedTurn {
        let active = winner.candidate.clone();
        let chosen = entry.override_ref(active.provider()).filter(|_| !entry.is_auto());
        let requested = self
            .requested
            .clone()
            .filter(|_| chosen.as_ref() != Some(&active));
        let requested = requested.unwrap_or_else(|| active.clone());
        FinishedTurn {
            session_id: entry.session_id.clone(),
            selected: selected_model(entry, &requested),
            active,
            reason: self.reason.clone(),
        }
    }
}
