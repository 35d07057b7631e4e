//! The texts of answers to commands.

use std::fmt::Write as _;

use jiff::Timestamp;
use openclaw_ids::{ModelRef, ProfileId};
use openclaw_session::{ConfiguredModelSource, SessionEntry, StatusFacts, status_lines};

use crate::report::{CandidateReport, ChainReport};

/// How a model is chosen.
pub(super) const HOW: &str = "Choose another with `/model <provider/model>` (`@profile` for one credential), see them with \
                              `/model list`, go back with `/model default`.";

/// A person chose a model.
pub(super) fn chosen(model: &ModelRef, profile: Option<&ProfileId>) -> String {
    let with = profile
        .map(|profile| format!(" with `{profile}`"))
        .unwrap_or_default();
    format!(
        "🧠 `{model}`{with} answers in this session now, and no other model takes over. `/model default` goes back."
    )
}

/// A person took the choice back.
pub(super) fn back_to(configured: &ModelRef) -> String {
    format!("🧠 This session uses what is configured: `{configured}`, with its fallbacks.")
}

/// The session began anew.
pub(super) fn started_over(model: Option<&ModelRef>) -> String {
    let with = model.map(|model| format!(" with `{model}`")).unwrap_or_default();
    format!(
        "✨ A new session begins{with}. What your client sends along of the old one still counts for the model."
    )
}

/// What can be chosen.
pub(super) fn models(models: &[ModelRef]) -> String {
    let mut list = String::from("Models you can choose with `/model <provider/model>`:");
    for model in models {
        // Writing to a text cannot fail.
        let _ = write!(list, "\n- `{model}`");
    }
    list
}

/// A model that no provider has.
pub(super) fn no_model(typed: &str) -> String {
    format!("⚠️ there is no model `{typed}`; `/model list` shows those you can choose")
}

/// What a session stands for, what answers in it, and which of its models rest.
pub(super) fn status(
    entry: &SessionEntry,
    configured: &ModelRef,
    fallbacks: &[ModelRef],
    chain: &ChainReport,
    now: Timestamp,
) -> Vec<String> {
    let pin = entry.profile_pin().map(|pin| pin.profile.to_string());
    let facts = StatusFacts {
        configured,
        configured_by: ConfiguredModelSource::Configuration,
        fallbacks,
        selected_auth: pin.as_deref(),
        active_auth: None,
    };
    let mut lines = status_lines(entry, &facts);
    lines.extend(
        chain
            .candidates
            .iter()
            .filter_map(|candidate| resting(candidate, now)),
    );
    lines
}

fn resting(candidate: &CandidateReport, now: Timestamp) -> Option<String> {
    let until = candidate.free_at.filter(|until| *until > now)?;
    let reason = candidate
        .reason
        .map(|reason| format!(" ({})", reason.as_str().replace('_', " ")))
        .unwrap_or_default();
    let seconds = u64::try_from(until.duration_since(now).as_secs()).unwrap_or_default();
    Some(format!(
        "⏳ {} rests for {}{reason}",
        candidate.model,
        span(seconds)
    ))
}

/// A time to wait, in the unit that people would use.
fn span(seconds: u64) -> String {
    match seconds {
        0..=90 => format!("{} s", seconds.max(1)),
        91..=5_400 => format!("{} min", seconds.div_ceil(60)),
        5_401..=172_800 => format!("{} h", seconds.div_ceil(3_600)),
        _ => format!("{} days", seconds.div_ceil(86_400)),
    }
}
