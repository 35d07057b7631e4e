//! `session set`: a person's choice for a session.

use clap::Args;
use openclaw_auth_store::Credential;
use openclaw_ids::{ModelRef, ProfileId};
use openclaw_session::{ProfileChoice, SessionEntry, UserSelection, apply_user_selection, update};

use crate::cli::auth::NotStored;
use crate::cli::chain::{UnknownModel, UnknownSession, session};
use crate::cli::files::{AgentArg, Files, Places, ReadAgent, runtime};
use crate::cli::screen::{Screen, now};
use crate::cli::{CommandError, Outcome};
use crate::environment::Environment;
use crate::report::SessionReport;

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
    /// Write JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    places: Places,
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
    let files = Files::open(&arguments.places, environment)?;
    let agent = ReadAgent::open_with_sessions(&files, &arguments.agent.id(&files)?)?;
    let (key, entry) = session(&agent, &arguments.key)?;
    let configured = files.resolver.agent_primary(&agent.id);
    let selection = selection(arguments, &files, &agent, entry, &configured)?;
    let store = files.session_store(&agent.id)?;
    let now = now();
    let changed = runtime()?.block_on(update(&store, key, |entry| {
        let Some(entry) = entry else {
            return (None, None);
        };
        let next = apply_user_selection(entry, &selection, &configured, now);
        let shown = next.clone().unwrap_or_else(|| entry.clone());
        (next, Some(shown))
    }))?;
    let entry = changed.ok_or_else(|| UnknownSession {
        agent: agent.id.clone(),
        key: arguments.key.clone(),
    })?;
    let report = SessionReport::of(key, &entry, &configured);
    if arguments.json {
        screen.json(&report)?;
    } else {
        let pin = report
            .pin
            .as_ref()
            .map(|pin| format!(" with {}", pin.profile))
            .unwrap_or_default();
        screen.line(format!("Session {key} is on {}{pin}.", report.selected.key()))?;
    }
    Ok(Outcome::Fine)
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
