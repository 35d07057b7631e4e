//! The notice group of an entry: the fallback state that was last announced, and the notice about it (S-1.2, S-10.3, S4).

use serde::{Deserialize, Serialize};

use super::{SessionEntry, lenient_serde};

/// The notice group: the fallback state that was last announced (S-1.2, S-10.3).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeState {
    /// Display form of the selected model.
    #[serde(
        rename = "fallbackNoticeSelectedModel",
        default,
        deserialize_with = "lenient_serde::text"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selected: Option<String>,
    /// Display form of the model that answered instead.
    #[serde(
        rename = "fallbackNoticeActiveModel",
        default,
        deserialize_with = "lenient_serde::text"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<String>,
    /// Why.
    #[serde(
        rename = "fallbackNoticeReason",
        default,
        deserialize_with = "lenient_serde::text"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A message about a change of the answering model, with an id that stays the same when it is offered again (S4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Unique within the session key.
    pub id: String,
    /// What changed.
    pub kind: NoticeKind,
    /// Display form of the selected model.
    pub selected: String,
    /// Display form of the model that answers.
    pub active: String,
    /// Why the selected one did not answer, or which model answered before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What people read; English in every locale (S-10.1b).
    pub text: String,
}

/// What a notice is about (S-10.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeKind {
    /// Another model answers than the selected one.
    Fallback,
    /// The selected model answers again.
    FallbackCleared,
}

impl SessionEntry {
    /// The notice that is stored and not yet known to be handed over.
    pub fn pending_notice(&self) -> Option<&Notice> {
        self.failover.pending_notice.as_ref()
    }
}
