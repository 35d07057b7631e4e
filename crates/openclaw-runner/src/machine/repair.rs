//! A request that a provider could not read is repaired once and sent again (R4, R-9.7).

use openclaw_classify::Reason;

use super::{Machine, NextAction, Step};
use crate::attempt::Repair;
use crate::record::rotation::RotationKind;

impl Machine {
    /// Asks for a repair when the failure is one of format and this candidate was not repaired before.
    pub(super) fn ask_for_repair(&mut self) -> Option<Step> {
        let current = self.current.as_mut()?;
        let failure = current
            .last_failure()
            .filter(|last| last.verdict.reason == Reason::Format)
            .map(|last| Box::new(last.failure.clone()))?;
        if std::mem::replace(&mut current.repaired, true) {
            return None;
        }
        Some(Step::Repair(self.call()?, failure))
    }

    /// The repaired request goes to the same candidate with the same credential, whatever else is left.
    pub(super) fn on_repaired(&mut self, repair: Repair) {
        match repair {
            Repair::None => {}
            Repair::Done => {
                self.record_rotation(RotationKind::RetryRepaired);
                self.then = NextAction::Begin;
            }
        }
    }
}
