//! The options of a recorded run.

use std::time::Duration;

use openclaw_chain::Shortfall;
use openclaw_ids::{ModelRef, ProfileId, ProviderId};
use openclaw_runner::{ChainKind, LargerContext, RunOptions};
use serde::{Deserialize, Serialize};

use super::policy::limits;
use crate::millis;

/// Options of one run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RecordedOptions {
    /// The most attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<usize>,
    /// The longest time, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_duration_ms: Option<u64>,
    /// Whether it was a chain of image models.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub image: bool,
    /// Providers that manage their own credentials.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub own_auth: Vec<ProviderId>,
    /// Credentials that could not serve the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub set_aside: Vec<ProfileId>,
    /// Sizes of models in tokens, when an overflow may go on to a larger one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_windows: Option<Vec<(ModelRef, u64)>>,
    /// The size of the prompt in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<u64>,
    /// How long the only candidate is waited for, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_for_reset_ms: Option<u64>,
    /// Fallbacks that cannot serve the request.
    #[serde(rename = "unfit", skip_serializing_if = "Vec::is_empty")]
    pub incompatible: Vec<RecordedShortfall>,
}

/// A fallback that cannot serve the request, and why: for its window, its images, or its tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedShortfall {
    /// The fallback.
    pub model: ModelRef,
    /// Whether it takes no images, rather than call no tools; only without a window.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub images: bool,
    /// How many tokens it holds, and how many are needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<(u64, u64)>,
}

impl RecordedOptions {
    /// What `options` asks for.
    pub(crate) fn of(options: &RunOptions) -> Self {
        let sizes = options.larger_context.as_ref();
        let windows = sizes.map(|sizes| {
            let mut windows: Vec<(ModelRef, u64)> = sizes
                .windows
                .iter()
                .map(|(model, size)| (model.clone(), *size))
                .collect();
            windows.sort_by_key(|(model, _)| model.key());
            windows
        });
        let mut own_auth: Vec<ProviderId> = options.own_auth.iter().cloned().collect();
        own_auth.sort();
        let incompatible = options.incompatible.iter();
        let mut incompatible: Vec<RecordedShortfall> = incompatible
            .map(|(model, shortfall)| RecordedShortfall::of(model, *shortfall))
            .collect();
        incompatible.sort_by_key(|recorded| recorded.model.key());
        let mut set_aside: Vec<ProfileId> = options.set_aside.iter().cloned().collect();
        set_aside.sort();
        Self {
            max_attempts: options.limits.attempts.map(usize::from),
            max_duration_ms: options.limits.duration.map(millis::whole),
            image: options.kind == ChainKind::Image,
            own_auth,
            set_aside,
            context_windows: windows,
            prompt_tokens: sizes.and_then(|sizes| sizes.prompt_tokens),
            wait_for_reset_ms: options.wait_for_reset.map(millis::whole),
            incompatible,
        }
    }

    /// The options as a run takes them.
    pub(crate) fn options(&self) -> RunOptions {
        RunOptions {
            limits: limits(self.max_attempts, self.max_duration_ms),
            kind: if self.image {
                ChainKind::Image
            } else {
                ChainKind::Text
            },
            own_auth: self.own_auth.iter().cloned().collect(),
            set_aside: self.set_aside.iter().cloned().collect(),
            larger_context: self.context_windows.as_ref().map(|windows| LargerContext {
                windows: windows.iter().cloned().collect(),
                prompt_tokens: self.prompt_tokens,
            }),
            wait_for_reset: self.wait_for_reset_ms.map(Duration::from_millis),
            incompatible: self
                .incompatible
                .iter()
                .map(|incompatible| (incompatible.model.clone(), incompatible.shortfall()))
                .collect(),
        }
    }
}

impl RecordedShortfall {
    fn of(model: &ModelRef, shortfall: Shortfall) -> Self {
        Self {
            model: model.clone(),
            images: shortfall == Shortfall::Images,
            window: match shortfall {
                Shortfall::Images | Shortfall::Tools => None,
                Shortfall::Window { holds, needs } => Some((holds, needs)),
            },
        }
    }

    fn shortfall(&self) -> Shortfall {
        match self.window {
            Some((holds, needs)) => Shortfall::Window { holds, needs },
            None if self.images => Shortfall::Images,
            None => Shortfall::Tools,
        }
    }
}
