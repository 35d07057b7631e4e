//! `/admin/v1/sessions`: conversations, the models they are on, and what a person changes about them (S-8, S-9).

use axum::Json;
use openclaw_chain::split_profile;
use openclaw_ids::{ModelRef, ProfileId, ProviderId, SessionKey};
use openclaw_runner::{Clock, SystemClock};
use openclaw_session::{
    ModelArgument, ProfileChoice, Reset, SessionEntry, SessionStore, UserSelection, apply_user_selection,
    reset, update,
};
use serde::{Deserialize, Deserializer};

use super::agents::{SelectedAgent, unusable};
use super::params::Object;
use crate::http::{ApiError, AskError, Choice, ChoiceError, PathName};
use crate::report::{SessionReport, SessionsReport};

/// All sessions of an agent, the last active first.
pub(super) async fn list(named: SelectedAgent) -> Result<Json<SessionsReport>, ApiError> {
    let look = named.look_with_sessions().await?;
    let installation = named.served.generation.installation();
    Ok(Json(SessionsReport::of(&installation, &look.state())))
}

/// One of them.
pub(super) async fn one(
    named: SelectedAgent,
    PathName(key): PathName,
) -> Result<Json<SessionReport>, ApiError> {
    let (key, entry) = stored(&named, &key).await?;
    Ok(Json(SessionReport::of(&key, &entry, &configured(&named))))
}

/// The session of a key as it was typed.
pub(super) async fn stored(named: &SelectedAgent, key: &str) -> Result<(SessionKey, SessionEntry), ApiError> {
    let key = session_key(key)?;
    let found = named.agent.sessions.load(&key).await;
    let found = found.map_err(|error| unusable(&error))?;
    let entry = found.ok_or_else(|| no_session(&key))?.entry;
    Ok((key, entry))
}

/// What is to change.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Patch {
    #[serde(default, deserialize_with = "given")]
    model: Option<ModelChange>,
}

/// The model that a session is to be on.
#[derive(Debug)]
enum ModelChange {
    /// What is configured: `null`.
    Configured,
    /// A reference or an alias, perhaps followed by `@profile`.
    SelectedAgent(String),
}

/// Tells `null` from nothing.
fn given<'de, D: Deserializer<'de>>(value: D) -> Result<Option<ModelChange>, D::Error> {
    let text = Option::deserialize(value)?;
    Ok(Some(
        text.map_or(ModelChange::Configured, ModelChange::SelectedAgent),
    ))
}

/// Chooses a model for a session, or takes the choice back. A session that has not been seen yet begins with it (F-11).
pub(super) async fn patch(
    named: SelectedAgent,
    PathName(key): PathName,
    Object(patch): Object<Patch>,
) -> Result<Json<SessionReport>, ApiError> {
    let key = session_key(&key)?;
    let wanted = patch.model.ok_or_else(|| {
        ApiError::invalid(
            "nothing is to change; set `model` to a reference, or to null for what is configured",
        )
    })?;
    let choice = match wanted {
        ModelChange::Configured => None,
        ModelChange::SelectedAgent(text) => Some(chosen(&named, &text)?),
    };
    let configured = configured(&named);
    let provider = choice
        .as_ref()
        .map_or(&configured, |choice| &choice.model)
        .provider();
    let aliases = &named.served.generation.policy.aliases;
    // A pin of the same account goes on (S-5.5f).
    let is_of = |profile: &ProfileId| {
        let prefix = profile.as_str().split_once(':').map(|(prefix, _)| prefix);
        let owner = prefix.and_then(|prefix| ProviderId::try_new(prefix).ok());
        owner.is_some_and(|owner| aliases.share_credentials(&owner, provider))
    };
    change(&named, &key, |entry| {
        let keeps = entry.pin_after_fallback().is_some_and(|pin| is_of(&pin.profile));
        let kept = if keeps {
            ProfileChoice::Keep
        } else {
            ProfileChoice::Drop
        };
        let selection = match &choice {
            None => UserSelection::cleared(kept),
            Some(Choice { model, profile }) => {
                let mut selection = UserSelection::model(model.clone(), profile.clone());
                if profile.is_none() {
                    selection.profile = kept;
                }
                selection
            }
        };
        apply_user_selection(entry, &selection, &configured, SystemClock.now())
    })
    .await
}

fn chosen(named: &SelectedAgent, text: &str) -> Result<Choice, ApiError> {
    let (reference, profile) = split_profile(text.trim());
    let typed = ModelArgument {
        reference: reference.to_owned(),
        profile: profile.and_then(|profile| ProfileId::try_new(profile).ok()),
    };
    Choice::find(&named.served, &named.id, &named.agent, &typed).map_err(|error| match error {
        ChoiceError::Model(error) => AskError::into(error),
        profile @ ChoiceError::Profile { .. } => ApiError::unknown(&profile.to_string()),
    })
}

/// Starts a session over, as `/new` does: a fallback and the credential go, a model that a person chose stays (F-10).
pub(super) async fn start_over(
    named: SelectedAgent,
    PathName(key): PathName,
) -> Result<Json<SessionReport>, ApiError> {
    let key = session_key(&key)?;
    let id = named.served.process.ids.next_session();
    let changed = update(&*named.agent.sessions, &key, |entry| {
        let next = entry.map(|entry| reset(entry, id.clone(), &Reset::NewSession, SystemClock.now()));
        (next.clone(), next)
    });
    let entry = changed.await.map_err(|error| unusable(&error))?;
    let entry = entry.ok_or_else(|| no_session(&key))?;
    Ok(Json(SessionReport::of(&key, &entry, &configured(&named))))
}

async fn change(
    named: &SelectedAgent,
    key: &SessionKey,
    mut fold: impl FnMut(&SessionEntry) -> Option<SessionEntry>,
) -> Result<Json<SessionReport>, ApiError> {
    let fresh = SessionEntry::new(named.served.process.ids.next_session(), SystemClock.now());
    let changed = update(&*named.agent.sessions, key, |entry| {
        let before = entry.unwrap_or(&fresh);
        let next = fold(before);
        let next = next.or_else(|| entry.is_none().then(|| fresh.clone()));
        let shown = next.clone().unwrap_or_else(|| before.clone());
        (next, shown)
    });
    let entry = changed.await.map_err(|error| unusable(&error))?;
    Ok(Json(SessionReport::of(key, &entry, &configured(named))))
}

fn configured(named: &SelectedAgent) -> ModelRef {
    named.served.generation.resolver.agent_primary(&named.id)
}

fn session_key(text: &str) -> Result<SessionKey, ApiError> {
    SessionKey::try_new(text).map_err(|error| ApiError::invalid(&error.to_string()))
}

fn no_session(key: &SessionKey) -> ApiError {
    ApiError::unknown(&format!(
        "there is no session `{key}`; GET /admin/v1/sessions lists them"
    ))
}
