//! Skips fallbacks that are known not to serve the request: too small a window, no images, no tools (BL-54).

use openclaw_chain::Shortfall;
use openclaw_classify::Reason;

use super::Machine;

impl Machine {
    /// Why fallback `index` is not worth asking; the requested model, and one that a person chose, always is.
    pub(super) fn incompatible(&self, index: usize) -> Option<(String, Reason)> {
        if index == 0 || self.redirects.are_made() {
            return None;
        }
        let candidate = &self.request.chain[index];
        let shortfall = self.incompatible.get(candidate)?;
        let reason = match shortfall {
            Shortfall::Images | Shortfall::Tools => Reason::Format,
            Shortfall::Window { .. } => Reason::ContextOverflow,
        };
        Some((format!("Skipping {candidate}: {shortfall}"), reason))
    }
}
