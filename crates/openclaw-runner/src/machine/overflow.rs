//! A prompt that did not fit may go on to models with a larger window, where that is wished (A7, BL-53, BL-54).

use openclaw_classify::Reason;
use openclaw_ids::ModelRef;

use super::Machine;
use crate::machine::policy::Advance;
use crate::request::{ChainKind, LargerContext};

/// What is known about sizes, and what an overflow taught.
#[derive(Debug, Default)]
pub(super) struct Sizes {
    known: Option<LargerContext>,
    /// At least so many tokens are needed; none before the first overflow.
    needed: Option<u64>,
}

impl Sizes {
    pub(super) fn new(known: Option<LargerContext>) -> Self {
        Self { known, needed: None }
    }

    fn window(&self, candidate: &ModelRef) -> Option<u64> {
        self.known.as_ref()?.windows.get(candidate).copied()
    }

    /// Whether the prompt may fit; before an overflow every model may be asked.
    fn fits(&self, candidate: &ModelRef) -> bool {
        self.needed
            .is_none_or(|needed| self.window(candidate).is_some_and(|window| window >= needed))
    }

    /// `candidate` could not hold the prompt: it is larger than its window, and as large as was counted.
    fn learn(&mut self, candidate: &ModelRef) {
        let counted = self.known.as_ref().and_then(|known| known.prompt_tokens);
        let exceeded = self.window(candidate).map(|window| window.saturating_add(1));
        self.needed = self.needed.max(counted).max(exceeded);
    }
}

impl Machine {
    /// Where an overflow leads: on, when a later candidate is known to be large enough.
    pub(super) fn after_overflow(&mut self, reason: Reason, next: Advance) -> Advance {
        let Some(current) = &self.current else { return next };
        let index = current.index;
        if reason != Reason::ContextOverflow || next != Advance::Surface {
            return next;
        }
        if self.kind == ChainKind::Image {
            return Advance::Next;
        }
        if self.sizes.known.is_none() || !self.has_next(index) {
            return next;
        }
        self.sizes.learn(&self.request.chain[index]);
        let mut later = self.request.chain[index + 1..].iter();
        if self.sizes.needed.is_some() && later.any(|candidate| self.sizes.fits(candidate)) {
            Advance::Next
        } else {
            next
        }
    }

    /// Why a candidate is not worth asking after an overflow.
    pub(super) fn too_small(&self, candidate: &ModelRef) -> Option<String> {
        let needed = self.sizes.needed.filter(|_| !self.sizes.fits(candidate))?;
        let holds = self.sizes.window(candidate).map_or_else(
            || "a context window of unknown size".to_owned(),
            |window| format!("a context window of {window} tokens"),
        );
        Some(format!(
            "Skipping {candidate}: it has {holds}, and the prompt needs {needed} or more"
        ))
    }
}
