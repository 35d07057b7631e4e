//! What chance decides of a turn before it begins.

use std::time::Duration;

use openclaw_chain::{OneOffPolicy, RunKind};
use openclaw_ids::ModelRef;
use openclaw_runner::RunLimits;
use openclaw_session::TurnKind;

use super::Person;
use crate::random::SeededRandom;
use crate::time::{SECOND, span};

/// What chance decides of a turn before it begins.
pub(super) struct Draws {
    pub(super) id: String,
    pub(super) process: usize,
    pub(super) run: RunKind,
    pub(super) kind: TurnKind,
    pub(super) limits: RunLimits,
    /// The model that a person picks meanwhile.
    pub(super) picks: Option<String>,
    pub(super) random: SeededRandom,
    pub(super) hand: Hand,
    pub(super) is_taped: bool,
    pub(super) is_fresh: bool,
}

/// What a caller does to its run.
#[derive(Debug, Clone, Copy)]
pub(super) enum Hand {
    /// Drops it after so long.
    Cancels(Duration),
    /// Its process dies after so long.
    Kills(Duration),
    Off,
}

impl Person {
    pub(super) fn draws(&mut self, suffix: &str) -> Draws {
        let setup = &self.stage.world.setup;
        let process = match self.session.process {
            Some(process) if suffix.is_empty() => process,
            Some(_) | None => self.random.below(setup.processes.len()),
        };
        let (run, kind) = self.kind_of_turn();
        let limits = self.limits();
        let picks = kind == TurnKind::Normal && !self.session.stateless && self.random.chance(6);
        Draws {
            id: format!("s{}-t{}{suffix}", self.session.number, self.turn),
            process,
            run,
            kind,
            limits,
            picks: picks.then(|| self.some_model().0),
            random: SeededRandom::of(self.random.next(), 1),
            hand: self.hand(),
            is_taped: self.random.chance(self.stage.taped),
            is_fresh: std::mem::take(&mut self.fresh),
        }
    }

    fn kind_of_turn(&mut self) -> (RunKind, TurnKind) {
        if self.random.chance(40) {
            let (model, _) = self.some_model();
            let Ok(model) = model.parse::<ModelRef>() else {
                return (RunKind::Turn, TurnKind::Normal);
            };
            let policy = *self
                .random
                .pick(&[OneOffPolicy::Strict, OneOffPolicy::ChainWhenConfigured]);
            return (RunKind::OneOff { model, policy }, TurnKind::OneOff);
        }
        if self.random.chance(50) {
            return (RunKind::Heartbeat { model: None }, TurnKind::Heartbeat);
        }
        (RunKind::Turn, TurnKind::Normal)
    }

    fn limits(&mut self) -> RunLimits {
        RunLimits {
            attempts: (self.random.chance(80))
                .then(|| std::num::NonZeroUsize::MIN.saturating_add(self.random.below(4))),
            duration: (self.random.chance(80)).then(|| {
                let seconds = u64::try_from(self.random.between(1, 60)).unwrap_or(1);
                Duration::from_secs(seconds)
            }),
        }
    }

    fn hand(&mut self) -> Hand {
        let after = span(self.random.spread(10, 20 * SECOND));
        if self.random.chance(12) {
            Hand::Cancels(after)
        } else if self.random.chance(2) {
            Hand::Kills(after)
        } else {
            Hand::Off
        }
    }
}
