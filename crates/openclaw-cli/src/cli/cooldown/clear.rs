//! `cooldown clear`: sets credentials free at once.

use std::io;

use clap::Args;
use openclaw_auth_store::{AuthSnapshot, ChangeOutcome, EndpointKey, UsageChange};
use openclaw_config::Environment;
use openclaw_cooldown::Lane;
use openclaw_ids::{AgentId, ProfileId, ProviderId};
use serde::Serialize;
use serde_json::json;

use crate::cli::auth::NotStored;
use crate::files::{AgentArg, CommonArgs, Files, ReadAgent, history::commit, runtime};
use crate::outcome::{CommandError, Outcome};
use crate::terminal::{Render, Screen};

/// Arguments of `cooldown clear`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct ClearArgs {
    /// The credentials, such as `openai:work`, or a provider for all of its own and its address
    #[arg(value_name = "PROFILE")]
    profiles: Vec<String>,
    /// Everything that rests
    #[arg(long, conflicts_with = "profiles")]
    all: bool,
    /// Only this window of a credential, as `cooldown list` names it, such as `billing` or `model:gpt-5.5`
    #[arg(long, value_name = "WINDOW", conflicts_with = "all")]
    window: Option<Lane>,
    #[command(flatten)]
    agent: AgentArg,
    #[command(flatten)]
    common: CommonArgs,
}

const EXAMPLES: &str = "\
Windows end, counts start anew, and the next request may use the credential. A running gateway sees
it at once.

Examples:
  openclaw-gateway cooldown clear openai:work
  openclaw-gateway cooldown clear openai         All credentials of the provider, and its address
  openclaw-gateway cooldown clear openai:work --window model:gpt-5.5
  openclaw-gateway cooldown clear --all";

/// The command names nothing to set free.
#[derive(Debug, thiserror::Error)]
#[error(
    "say what to set free: a credential such as openai:work, a provider, or --all; `cooldown list` shows what rests"
)]
struct NothingNamed;

/// Sets free what is named.
pub(in crate::cli) fn run(
    environment: &Environment,
    arguments: &ClearArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    if arguments.profiles.is_empty() && !arguments.all {
        return Err(NothingNamed.into());
    }
    let files = Files::open(&arguments.common.places, environment)?;
    let agent = arguments.agent.id(&files)?;
    let named = named(arguments, &ReadAgent::open(&files, &agent)?)?;
    let cleared = clear(arguments, &files, agent, named)?;
    screen.render(&cleared, arguments.common.output)?;
    Ok(Outcome::Fine)
}

fn clear(
    arguments: &ClearArgs,
    files: &Files,
    agent: AgentId,
    named: ClearTarget,
) -> Result<ClearedCooldowns, CommandError> {
    let mut cleared = Vec::new();
    let mut unchanged: Vec<String> = named.unmarked.iter().map(ToString::to_string).collect();
    // A store is opened, and made, only where there is something to do in it.
    if !named.is_empty() {
        let store = files.store(&agent)?;
        let runtime = runtime()?;
        for profile in named.profiles {
            let change = match &arguments.window {
                Some(lane) => UsageChange::ClearLane {
                    profile: profile.clone(),
                    lane: lane.clone(),
                },
                None => UsageChange::Clear {
                    profile: profile.clone(),
                },
            };
            let applied = runtime.block_on(commit(files, &agent, &store, change))?;
            let had_state = applied == ChangeOutcome::Done;
            if had_state { &mut cleared } else { &mut unchanged }.push(profile.to_string());
        }
        for endpoint in named.endpoints {
            let change = UsageChange::EndpointSuccess {
                endpoint: endpoint.clone(),
            };
            if runtime.block_on(commit(files, &agent, &store, change))? == ChangeOutcome::Done {
                cleared.push(endpoint.base_url);
            }
        }
    }
    Ok(ClearedCooldowns {
        agent,
        cleared,
        unchanged,
        all: arguments.all,
    })
}

/// What was set free.
struct ClearedCooldowns {
    agent: AgentId,
    cleared: Vec<String>,
    /// What was named and did not cool down.
    unchanged: Vec<String>,
    /// Whether everything was meant.
    all: bool,
}

impl Render for ClearedCooldowns {
    fn text(&self, screen: &mut Screen<'_>) -> io::Result<()> {
        let agent = &self.agent;
        screen.line(if !self.cleared.is_empty() {
            format!("Set free in agent {agent}: {}.", self.cleared.join(", "))
        } else if self.all {
            format!("Nothing of agent {agent} rests, so there is nothing to set free.")
        } else {
            format!("Nothing of it rests in agent {agent}.")
        })
    }

    fn json(&self) -> impl Serialize {
        json!({"agent": self.agent, "cleared": self.cleared, "unchanged": self.unchanged})
    }
}

/// What the arguments mean.
fn named(arguments: &ClearArgs, agent: &ReadAgent) -> Result<ClearTarget, CommandError> {
    let seen = &agent.seen;
    let mut named = ClearTarget::default();
    if arguments.all {
        named.add(seen, |_| true);
    }
    for text in &arguments.profiles {
        let id = ProfileId::try_new(text)?;
        if seen.credential(&id).is_some() {
            let marked = seen.usage(&id).has_failed();
            if marked {
                &mut named.profiles
            } else {
                &mut named.unmarked
            }
            .push(id);
            continue;
        }
        let provider = ProviderId::try_new(text)?;
        if !named.add(seen, |other| *other == provider) {
            let agent = agent.id.clone();
            return Err(NotStored::Unknown { profile: id, agent }.into());
        }
    }
    if arguments.window.is_some() {
        named.endpoints.clear();
    }
    Ok(named)
}

/// What is to be set free.
#[derive(Default)]
struct ClearTarget {
    profiles: Vec<ProfileId>,
    /// What was named by its id, and has nothing to be set free from.
    unmarked: Vec<ProfileId>,
    endpoints: Vec<EndpointKey>,
}

impl ClearTarget {
    /// Whether nothing of it has anything to be set free from.
    fn is_empty(&self) -> bool {
        self.profiles.is_empty() && self.endpoints.is_empty()
    }

    /// Adds what belongs to the providers that `is_meant` and has anything to be set free from; whether there is any such
    /// credential or address at all.
    fn add(&mut self, seen: &AuthSnapshot, is_meant: impl Fn(&ProviderId) -> bool) -> bool {
        let profiles = seen.profiles.iter().chain(&seen.ambient);
        let mut is_known = false;
        for (id, _) in profiles.filter(|(_, credential)| is_meant(credential.provider())) {
            is_known = true;
            if seen.usage(id).has_failed() && !self.profiles.contains(id) {
                self.profiles.push(id.clone());
            }
        }
        let endpoints = seen
            .endpoints
            .keys()
            .filter(|endpoint| is_meant(&endpoint.provider));
        let before = self.endpoints.len();
        self.endpoints.extend(endpoints.cloned());
        is_known || self.endpoints.len() > before
    }
}
