//! `session reset`: a session starts over.

use std::hash::{BuildHasher, RandomState};
use std::io;

use clap::Args;
use openclaw_config::Environment;
use openclaw_gateway::report::SessionReport;
use openclaw_ids::{IdError, SessionId, SessionKey};
use openclaw_session::{Reset, reset, update};
use serde::Serialize;

use crate::cli::chain::{UnknownSession, session};
use crate::files::{AgentArg, CommonArgs, Files, ReadAgent, runtime};
use crate::outcome::{CommandError, Outcome};
use crate::terminal::Render;
use crate::terminal::screen::{Screen, now};

/// Arguments of `session reset`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct ResetArgs {
    /// The session
    #[arg(value_name = "KEY")]
    key: String,
    #[command(flatten)]
    agent: AgentArg,
    #[command(flatten)]
    common: CommonArgs,
}

const EXAMPLES: &str = "\
A fallback and a pinned credential end with the old transcript; a model that a person chose stays.
Nothing of the transcript itself is removed.

Examples:
  openclaw-gateway session reset agent:main:telegram:42";

/// Starts the session over.
pub(in crate::cli) fn run(
    environment: &Environment,
    arguments: &ResetArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    let files = Files::open(&arguments.common.places, environment)?;
    let agent = ReadAgent::open_with_sessions(&files, &arguments.agent.id(&files)?)?;
    let (key, _) = session(&agent, &arguments.key)?;
    let id = new_session_id(key)?;
    let store = files.session_store(&agent.id)?;
    let now = now();
    let renewed = runtime()?.block_on(update(&store, key, |entry| {
        let next = entry.map(|entry| reset(entry, id.clone(), &Reset::NewSession, now));
        (next.clone(), next)
    }))?;
    let entry = renewed.ok_or_else(|| UnknownSession {
        agent: agent.id.clone(),
        key: arguments.key.clone(),
    })?;
    let report = SessionReport::of(key, &entry, &files.resolver.agent_primary(&agent.id));
    screen.render(&RestartedSession(report), arguments.common.output)?;
    Ok(Outcome::Fine)
}

/// A session after it was started over.
struct RestartedSession(SessionReport);

impl Render for RestartedSession {
    fn text(&self, screen: &mut Screen<'_>) -> io::Result<()> {
        let SessionReport { key, selected, .. } = &self.0;
        screen.line(format!("Session {key} starts over on {}.", selected.key()))
    }

    fn json(&self) -> impl Serialize {
        &self.0
    }
}

/// A name for a transcript of `key` that begins now.
pub(super) fn new_session_id(key: &SessionKey) -> Result<SessionId, IdError> {
    SessionId::try_new(&format!("oc-{:016x}", RandomState::new().hash_one(key.as_str())))
}
