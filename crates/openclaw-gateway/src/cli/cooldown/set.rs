//! `cooldown set`: lets a credential rest for a while.

use clap::Args;
use jiff::{SignedDuration, Span, SpanRelativeTo};
use openclaw_auth_store::{Credential, UsageChange, UsageStore};
use openclaw_classify::{HintSource, Reason, ResetHint};
use openclaw_cooldown::{FailureEvent, MarkScope};
use openclaw_ids::{ModelId, ProfileId};
use serde_json::json;

use crate::cli::auth::NotStored;
use crate::cli::files::{AgentArg, Files, Places, ReadAgent, runtime};
use crate::cli::render::left;
use crate::cli::screen::{Screen, now};
use crate::cli::{CommandError, Outcome};
use crate::environment::Environment;
use crate::history::commit_by_person;
use crate::report::CooldownsReport;

/// Arguments of `cooldown set`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct SetArgs {
    /// The credential, such as `openai:work`
    #[arg(value_name = "PROFILE")]
    profile: String,
    /// How long, such as `90s`, `2h 30m` or `1d`; 35 days at most
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    duration: SignedDuration,
    /// This model alone, as the provider names it [default: all models]
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    #[command(flatten)]
    agent: AgentArg,
    /// Write JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    places: Places,
}

const EXAMPLES: &str = "\
It counts as a limit whose end the provider stated: other credentials and models take over, a longer rest stays as it is,
and where nothing else is left the credential is tried once in a while all the same.

Examples:
  openclaw-gateway cooldown set openai:work --for 2h
  openclaw-gateway cooldown set openai:work --for 30m --model gpt-5.5
  openclaw-gateway cooldown clear openai:work                           The way back";

/// What cannot be set.
#[derive(Debug, thiserror::Error)]
enum SetError {
    #[error("--for must be more than nothing and at most 35 days")]
    Duration,
}

/// A time as people write it; a day has 24 hours.
fn duration(text: &str) -> Result<SignedDuration, String> {
    let span = text.parse::<Span>().ok();
    let duration = span.and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours()).ok());
    duration.ok_or_else(|| "write a time such as 90s, 2h 30m or 1d".to_owned())
}

/// Opens the window.
pub(in crate::cli) fn run(
    environment: &Environment,
    arguments: &SetArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    let id = ProfileId::try_new(&arguments.profile)?;
    let model = arguments.model.as_deref().map(ModelId::try_new).transpose()?;
    let files = Files::open(&arguments.places, environment)?;
    let agent = arguments.agent.id(&files)?;
    let store = files.store(&agent)?;
    let provider = store
        .snapshot()
        .credential(&id)
        .map(Credential::provider)
        .cloned();
    let provider = provider.ok_or_else(|| NotStored::Unknown {
        profile: id.clone(),
        agent: agent.clone(),
    })?;
    let started = now();
    let end = started
        .checked_add(arguments.duration)
        .map_err(|_| SetError::Duration)?;
    let hint = ResetHint::new(end, HintSource::Body, started);
    if !arguments.duration.is_positive() || !hint.credible {
        return Err(SetError::Duration.into());
    }
    let event = FailureEvent {
        provider,
        reason: Reason::RateLimit,
        scope: if model.is_some() {
            MarkScope::Model
        } else {
            MarkScope::Profile
        },
        model,
        hint: Some(hint),
        started_at: Some(started),
    };
    let change = UsageChange::Failure {
        profile: id.clone(),
        event,
    };
    let made = commit_by_person(&agent, &store, change, started);
    let (_, notes) = runtime()?.block_on(made)?;
    files.history().record_windows(notes, started);
    drop(store);
    let read = ReadAgent::open(&files, &agent)?;
    let report = CooldownsReport::of(&files.installation(), &read.state(), started);
    let own = report.profiles.iter().find(|profile| profile.profile == id);
    if arguments.json {
        screen.json(&json!({"agent": agent, "profile": id, "windows": own.map(|own| &own.windows)}))?;
        return Ok(Outcome::Fine);
    }
    match own.and_then(|own| own.windows.iter().map(|window| window.until).max()) {
        Some(until) => screen.line(format!(
            "{id} rests in agent {agent} for {}.",
            left(until, started)
        ))?,
        None => screen.line(format!(
            "{id} does not rest: its provider is exempt by cooldownBypass."
        ))?,
    }
    Ok(Outcome::Fine)
}
