//! The user picks another model while the run is active (A6, S-12).

use openclaw_session::{
    ChainPosition, LiveRun, MAX_REDIRECTS, Progress, Redirect, RunSelection, SwitchOrigin, redirect,
};

use super::{Machine, NextAction, Step};
use crate::record::rotation::RotationKind;

/// The redirects of a run.
#[derive(Debug, Default)]
pub(super) struct Redirects {
    made: u32,
    /// The candidate that a person chose; nothing follows it.
    strict_at: Option<usize>,
}

impl Redirects {
    /// Whether a person's choice ends the chain, and it is not candidate `index`.
    pub(super) fn exclude(&self, index: usize) -> bool {
        self.strict_at.is_some_and(|strict| strict != index)
    }

    /// The candidate that a person chose.
    pub(super) fn target(&self) -> Option<usize> {
        self.strict_at
    }

    /// Whether a person chose during the run.
    pub(super) fn are_made(&self) -> bool {
        self.strict_at.is_some()
    }
}

impl Machine {
    /// After a failed attempt, the session is asked for a person's mark (S-12.2a).
    pub(super) fn look_for_switch(&self) -> Option<Step> {
        self.request.session.as_ref()?;
        let current = self.current.as_ref()?;
        if self.redirects.made >= MAX_REDIRECTS {
            // A further mark waits for the next turn.
            return None;
        }
        let model = self.request.chain[current.index].clone();
        let profile = self
            .request
            .pin
            .clone()
            .filter(|pin| self.pin_concerns(&pin.profile, &model));
        let run = LiveRun {
            running: RunSelection {
                model,
                runtime: None,
                profile,
            },
            progress: Progress::Clean,
            redirects: self.redirects.made,
        };
        Some(Step::LookForSwitch(Box::new(run), self.request.chain[0].clone()))
    }

    /// Goes to the model that a person chose and stays there: a jump, not a failure. What runs on another runtime
    /// is the host's business, so the runtime is taken as it is.
    pub(super) fn on_switch(&mut self, target: RunSelection) {
        let Some(mut current) = self.current.take() else {
            return;
        };
        let at = ChainPosition {
            chain: &self.request.chain,
            current: current.index,
            runtime: target.runtime.as_deref(),
        };
        let index = match redirect(&target, SwitchOrigin::Marked, &at) {
            Redirect::Jump(index) => index,
            Redirect::Direct | Redirect::FailedCandidate | Redirect::OtherRuntime => {
                self.request.chain.push(target.model.clone());
                self.request.chain.len() - 1
            }
        };
        self.redirects.made += 1;
        self.redirects.strict_at = Some(index);
        self.undo(&mut current);
        self.current = Some(current);
        self.record_rotation(RotationKind::Redirect);
        self.current = None;
        self.request.pin = target.profile;
        self.then = NextAction::Enter(index);
    }
}
