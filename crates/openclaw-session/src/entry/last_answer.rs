//! The model of a session's last answer, and its record after a turn (S-1.1, S-11.4).

use jiff::Timestamp;
use openclaw_ids::{ModelId, ModelRef, ProviderId, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{SessionEntry, lenient_serde};

/// The model of the last answer, and what was derived from it; never a selection (S-1.1).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastAnswer {
    /// The provider that answered last.
    #[serde(
        default,
        deserialize_with = "lenient_serde::parsed",
        skip_serializing_if = "Option::is_none"
    )]
    pub model_provider: Option<ProviderId>,
    /// The model that answered last.
    #[serde(
        default,
        deserialize_with = "lenient_serde::parsed",
        skip_serializing_if = "Option::is_none"
    )]
    pub model: Option<ModelId>,
    /// The context window of that model, as the host wrote it.
    #[serde(
        default,
        deserialize_with = "lenient_serde::value",
        skip_serializing_if = "Option::is_none"
    )]
    pub context_tokens: Option<Value>,
    /// The host's context budget for that model.
    #[serde(
        default,
        deserialize_with = "lenient_serde::value",
        skip_serializing_if = "Option::is_none"
    )]
    pub context_budget_status: Option<Value>,
}

impl LastAnswer {
    /// Whether nothing is known about the last answer's model.
    pub(crate) fn names_no_model(&self) -> bool {
        self.model_provider.is_none() && self.model.is_none()
    }

    /// The model that answered last, when both halves are known.
    pub fn model_ref(&self) -> Option<ModelRef> {
        Some(ModelRef::new(self.model_provider.clone()?, self.model.clone()?))
    }
}

/// The entry after `model` answered in the transcript `session_id`, or `None` when it says so already or belongs to
/// another transcript (S-13 hazard 5).
///
/// What was derived from another model goes. Which turns may ask is up to
/// [`TurnKind::records_answer`](crate::TurnKind::records_answer); a chain that is exhausted has no answer to record.
pub fn record_answer(
    entry: &SessionEntry,
    session_id: &SessionId,
    model: &ModelRef,
    now: Timestamp,
) -> Option<SessionEntry> {
    if entry.session_id != *session_id || entry.last_answer.model_ref().as_ref() == Some(model) {
        return None;
    }
    let mut next = entry.clone();
    next.last_answer = LastAnswer {
        model_provider: Some(model.provider().clone()),
        model: Some(model.model().clone()),
        ..LastAnswer::default()
    };
    next.touch(now);
    Some(next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at, auto, entry, id, model};

    #[test]
    fn s_1_1_the_last_answer_is_remembered_and_is_no_selection() {
        let before = entry(&format!(r#"{}, "contextTokens": 5"#, auto("a/m", "o/g")));
        let after = record_answer(&before, &id("s1"), &model("a/m"), at(2000)).unwrap();
        assert_eq!(after.last_answer.model_ref(), Some(model("a/m")));
        assert_eq!(after.last_answer.context_tokens, None);
        assert_eq!(after.selection(), before.selection());
        assert_eq!(record_answer(&after, &id("s1"), &model("a/m"), at(3000)), None);
    }

    #[test]
    fn hazard_5_a_late_answer_is_not_that_of_a_new_session() {
        assert_eq!(
            record_answer(&entry(""), &id("s0"), &model("a/m"), at(2000)),
            None
        );
    }
}
