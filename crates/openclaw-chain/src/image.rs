//! The candidates of an image run (chain.md 11).

use openclaw_ids::ModelRef;

use crate::candidates::{ChainExplanation, Member};
use crate::config::non_blank;
use crate::resolver::Resolver;
use crate::resolver::SelectionError;

impl Resolver {
    /// The candidates of an image run: `over` when it is not blank, else the image primary, then the image
    /// fallbacks (G2, G3). Text models are never appended (G4); empty when no image model is configured (G5).
    pub fn image_chain(&self, over: Option<&str>) -> Vec<ModelRef> {
        self.explain_image_chain(over).into_models()
    }

    /// As [`image_chain`](Self::image_chain), for a run that needs a candidate.
    ///
    /// # Errors
    /// [`SelectionError::NoImageModel`] when there is none (G5).
    pub fn require_image_chain(&self, over: Option<&str>) -> Result<Vec<ModelRef>, SelectionError> {
        let chain = self.image_chain(over);
        if chain.is_empty() {
            return Err(SelectionError::NoImageModel);
        }
        Ok(chain)
    }

    /// As [`image_chain`](Self::image_chain), with the origin of every candidate and what was left out.
    pub fn explain_image_chain(&self, over: Option<&str>) -> ChainExplanation {
        let setting = &self.defaults.image_model.model;
        let resolve = |text: &str| self.images.resolve(text, &self.names);
        let first = over
            .and_then(non_blank)
            .or(setting.primary())
            .map(|text| (resolve(text), Member::Requested));
        let listed = setting.fallbacks().unwrap_or_default().iter();
        let listed = listed.map(|text| (resolve(text), Member::Fallback(text)));
        ChainExplanation::new(first.into_iter().chain(listed))
    }

    /// Completes a bare image reference (G7): with its provider when exactly one serves a model of that name that
    /// takes images; unchanged when none does.
    ///
    /// # Errors
    /// [`SelectionError::AmbiguousImageModel`] when several do.
    pub fn qualify_image_ref(&self, text: &str) -> Result<String, SelectionError> {
        let text = text.trim();
        if text.contains('/') {
            return Ok(text.to_owned());
        }
        let mut providers = self.names.image_providers(text);
        match (providers.pop(), providers.is_empty()) {
            (None, _) => Ok(text.to_owned()),
            (Some(provider), true) => Ok(format!("{provider}/{text}")),
            (Some(last), false) => {
                providers.push(last);
                Err(SelectionError::AmbiguousImageModel {
                    text: text.to_owned(),
                    providers,
                })
            }
        }
    }
}

#[cfg(test)]
mod tests;
