//! The lines of `/status` and of the session report about a session's model (S-11, S5).

use openclaw_ids::{ModelRef, ProviderId, SessionKey};

use crate::entry::SessionEntry;
use crate::notice::NO_REASON;

/// Whether the configured model comes from the channel (S-2.1 row J).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfiguredModelSource {
    /// The channel's model.
    Channel,
    /// The agent or the defaults.
    Configuration,
}

/// What the status lines need beyond the entry.
#[derive(Debug, Clone, Copy)]
pub struct StatusFacts<'a> {
    /// The model of a session without an override.
    pub configured: &'a ModelRef,
    /// Where that comes from.
    pub configured_by: ConfiguredModelSource,
    /// The fallbacks that the agent's model setting lists.
    pub fallbacks: &'a [ModelRef],
    /// How the selected model authenticates, in a few words.
    pub selected_auth: Option<&'a str>,
    /// How the active model authenticates, in a few words.
    pub active_auth: Option<&'a str>,
}

/// The status lines about the model: always `Model`, then `Fallbacks` and `Fallback` when there is something to say.
///
/// While an automatic override is in place its origin is the selected model, and the override is shown as the active
/// fallback with its reason (S5).
pub fn status_lines(entry: &SessionEntry, facts: &StatusFacts<'_>) -> Vec<String> {
    let shown = DisplayedModels::of(entry, facts.configured);
    let mut lines = vec![model_line(entry, &shown, facts)];
    if !facts.fallbacks.is_empty() && !entry.is_user_pin() {
        let names: Vec<_> = facts.fallbacks.iter().map(ToString::to_string).collect();
        lines.push(format!("🔄 Fallbacks: {}", names.join(", ")));
    }
    lines.extend(fallback_line(entry, &shown, facts.active_auth));
    lines
}

/// The selected model and the one that answers.
struct DisplayedModels {
    selected: ModelRef,
    active: Option<ModelRef>,
    fallback: Option<ModelRef>,
}

impl DisplayedModels {
    fn of(entry: &SessionEntry, configured: &ModelRef) -> Self {
        let fallback = entry.active_fallback();
        let origin = fallback.as_ref().and_then(|_| entry.origin());
        let selected = origin.or_else(|| entry.override_ref(configured.provider()));
        Self {
            selected: selected.unwrap_or_else(|| configured.clone()),
            active: fallback.clone().or_else(|| entry.last_answer.model_ref()),
            fallback,
        }
    }
}

fn model_line(entry: &SessionEntry, shown: &DisplayedModels, facts: &StatusFacts<'_>) -> String {
    let configured = facts.configured;
    let mut parts = vec![format!("🧠 Model: {}", shown.selected)];
    parts.extend(facts.selected_auth.map(|auth| format!("🔑 {auth}")));
    if facts.configured_by == ConfiguredModelSource::Channel && !entry.has_override() {
        parts.push("channel override".to_owned());
    }
    if entry.is_user_pin() && shown.selected != *configured {
        parts.push(format!("pinned session; config primary {configured}"));
        parts.push("clear /model default".to_owned());
    } else if shown
        .fallback
        .as_ref()
        .is_some_and(|fallback| fallback != configured)
    {
        parts.push(format!("auto fallback; config primary {configured}"));
        parts.push("check provider".to_owned());
    }
    parts.join(" · ")
}

/// Displayed when another model than the selected one answers: the automatic override, or a pair that was announced
/// (S-11.1, S5).
fn fallback_line(entry: &SessionEntry, shown: &DisplayedModels, auth: Option<&str>) -> Option<String> {
    let active = shown
        .active
        .as_ref()
        .filter(|active| **active != shown.selected)?;
    let announced = entry.notice.selected.as_deref() == Some(&shown.selected.key())
        && entry.notice.active.as_deref() == Some(&active.key());
    if !announced && shown.fallback.is_none() {
        return None;
    }
    let reason = entry
        .notice
        .reason
        .as_deref()
        .filter(|_| announced)
        .unwrap_or(NO_REASON);
    let auth = auth.map(|auth| format!(" · 🔑 {auth}")).unwrap_or_default();
    Some(format!("↪️ Fallback: {active}{auth} ({reason})"))
}

/// How many sessions the report names (S-11.3).
const REPORTED: usize = 3;

/// One line for each of the last active sessions whose model differs from the configured one, at most three (S-11.3).
///
/// `sessions` come the last active first, as [`SessionStore::list`](crate::SessionStore::list) returns them.
pub fn report_lines<'a>(
    sessions: impl IntoIterator<Item = (&'a SessionKey, &'a SessionEntry)>,
    configured: &ModelRef,
) -> Vec<String> {
    let lines = sessions
        .into_iter()
        .filter_map(|(key, entry)| report_line(key, entry, configured));
    lines.take(REPORTED).collect()
}

fn report_line(key: &SessionKey, entry: &SessionEntry, configured: &ModelRef) -> Option<String> {
    let provider: &ProviderId = configured.provider();
    let model = entry.active_fallback().or_else(|| entry.override_ref(provider));
    let model = model.filter(|model| model != configured)?;
    Some(if entry.is_auto() {
        format!("{key} is running {model} (auto fallback); config primary is {configured}.")
    } else {
        format!(
            "{key} is pinned to {model}; config primary {configured} will apply to new/unpinned sessions."
        )
    })
}

#[cfg(test)]
mod tests;
