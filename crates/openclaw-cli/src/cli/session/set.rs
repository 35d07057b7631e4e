//! `session set`: a person's choice for a session.

use std::io;

use clap::Args;
use openclaw_auth_store::Credential;
use openclaw_config::Environment;
use openclaw_gateway::report::{OrderOfProvider, SessionReport};
use openclaw_ids::{ModelRef, ProfileId, SessionKey};
use openclaw_session::{ProfileChoice, SessionEntry, UserSelection, apply_user_selection, update};
use serde::Serialize;

use crate::cli::auth::NotStored;
use crate::cli::chain::{UnknownModel, no_address, session};
use crate::cli::session::reset::new_session_id;
use crate::files::{AgentArg, CommonArgs, Files, ReadAgent, runtime};
use crate::outcome::{CommandError, Outcome};
use crate::terminal::Render;
use crate::terminal::screen::{Screen, now};

/// Arguments of `session set`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct SetArgs {
    /// The session
    #[arg(value_name = "KEY")]
    key: String,
    /// The model: a reference or an alias, or `default` for what is configured
    #[arg(long, value_name = "MODEL", required_unless_present = "profile")]
    model: Option<String>,
    /// The credential; no other is used until the session starts over
    #[arg(long, value_name = "PROFILE")]
    profile: Option<String>,
    #[command(flatten)]
    agent: AgentArg,
    #[command(flatten)]
    common: CommonArgs,
}

const EXAMPLES: &str = "\
What a person chooses is strict: no other model answers. A run that is going on follows if it can.

Examples:
  openclaw-gateway session set agent:main:telegram:42 --model openai/gpt-5.5
  openclaw-gateway session set agent:main:telegram:42 --model openai/gpt-5.5 --profile openai:work
  openclaw-gateway session set agent:main:telegram:42 --model default    Back to the configuration";

/// What cannot be chosen.
#[derive(Debug, thiserror::Error)]
enum ChoiceError {
    #[error("`{0}` is not in agents.defaults.models, the list of models that may be chosen; add it there")]
    NotAllowed(ModelRef),
    #[error("{profile} is for provider {found}, and the model is {model}'s; choose a credential of {model}")]
    OtherProvider {
        profile: ProfileId,
        found: openclaw_ids::ProviderId,
        model: openclaw_ids::ProviderId,
    },
}

/// Stores the choice.
pub(in crate::cli) fn run(
    environment: &Environment,
    arguments: &SetArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    let files = Files::open(&arguments.common.places, environment)?;
    let agent = ReadAgent::open_with_sessions(&files, &arguments.agent.id(&files)?)?;
    let key = &SessionKey::try_new(&arguments.key)?;
    let now = now();
    // One that has not been seen yet begins with the choice (F-11).
    let fresh = SessionEntry::new(new_session_id(key)?, now);
    let seen = session(&agent, &arguments.key).map(|(_, entry)| entry);
    let configured = files.resolver.agent_primary(&agent.id);
    let selection = selection(arguments, &files, &agent, seen.unwrap_or(&fresh), &configured)?;
    let store = files.session_store(&agent.id)?;
    let entry = runtime()?.block_on(update(&store, key, |entry| {
        let before = entry.unwrap_or(&fresh);
        let next = apply_user_selection(before, &selection, &configured, now);
        let next = next.or_else(|| entry.is_none().then(|| fresh.clone()));
        let shown = next.clone().unwrap_or_else(|| before.clone());
        (next, shown)
    }))?;
    let report = SessionReport::of(key, &entry, &configured);
    let notes = notes(&files, &agent, &report.selected);
    screen.render(&SessionChange { report, notes }, arguments.common.output)?;
    Ok(Outcome::Fine)
}

/// What holds now, and what is to be known of it.
#[derive(Debug, Serialize)]
struct SessionChange {
    #[serde(flatten)]
    report: SessionReport,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl Render for SessionChange {
    fn text(&self, screen: &mut Screen<'_>) -> io::Result<()> {
        let SessionReport {
            key, selected, pin, ..
        } = &self.report;
        let pin = pin.as_ref().map(|pin| format!(" with {}", pin.profile));
        let pin = pin.unwrap_or_default();
        screen.line(format!("Session {key} is on {}{pin}.", selected.key()))?;
        let mut notes = self.notes.iter();
        notes.try_for_each(|note| screen.line(format!("Note: {note}")))
    }

    fn json(&self) -> impl Serialize {
        self
    }
}

/// Why the chosen model cannot be asked, which no other model makes up for.
fn notes(files: &Files, agent: &ReadAgent, model: &ModelRef) -> Vec<String> {
    let provider = model.provider();
    let mut notes = Vec::new();
    if files.endpoints.get(provider).is_none() {
        notes.push(no_address(provider));
    }
    let order = OrderOfProvider::of(&files.installation(), &agent.seen, provider, now());
    if order.order.is_empty() {
        notes.push(format!(
            "there is no credential for `{provider}` that can be used; store one: openclaw-gateway auth add {provider}"
        ));
    }
    notes
}

fn selection(
    arguments: &SetArgs,
    files: &Files,
    agent: &ReadAgent,
    entry: &SessionEntry,
    configured: &ModelRef,
) -> Result<UserSelection, CommandError> {
    let profile = arguments.profile.as_deref().map(ProfileId::try_new).transpose()?;
    let mut selection = match arguments.model.as_deref().map(str::trim) {
        Some("default") => UserSelection::default_model(),
        Some(text) => {
            let model = files.resolver.resolve(text);
            let model = model.ok_or_else(|| UnknownModel(text.to_owned()))?;
            if !files.resolver.is_allowed(&agent.id, &model) {
                return Err(ChoiceError::NotAllowed(model).into());
            }
            UserSelection::model(model, None)
        }
        None => match entry
            .override_ref(configured.provider())
            .filter(|_| entry.is_user_pin())
        {
            Some(chosen) => UserSelection::model(chosen, None),
            None => UserSelection::default_model(),
        },
    };
    if let Some(profile) = profile {
        let model = match &selection.model {
            openclaw_session::ModelChoice::Default => configured,
            openclaw_session::ModelChoice::Model(model) => model,
        };
        let found = agent.seen.credential(&profile).map(Credential::provider);
        let found = found.ok_or_else(|| NotStored::Unknown {
            profile: profile.clone(),
            agent: agent.id.clone(),
        })?;
        if !files.aliases.share_credentials(found, model.provider()) {
            return Err(ChoiceError::OtherProvider {
                found: found.clone(),
                model: model.provider().clone(),
                profile,
            }
            .into());
        }
        selection.profile = ProfileChoice::Named(profile);
    }
    Ok(selection)
}
