//! `auth order`: in which order a provider's credentials are tried, and who said so (BL-48).

use std::io;

use clap::{Args, Subcommand};
use openclaw_auth_store::{OrderBasis, ProfileStore};
use openclaw_config::Environment;
use openclaw_gateway::report::{OrderOfProvider, ProfilesReport};
use openclaw_ids::{AgentId, ProfileId, ProviderId};
use serde_json::json;

use crate::files::{AgentArg, Files, Places, ReadAgent, runtime};
use crate::outcome::{CommandError, Outcome};
use crate::terminal::screen::{Screen, now};
use crate::terminal::{Cell, Style, Table};

/// The commands.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum OrderCommand {
    /// Show the order, the list it was made from, and what is left out
    Get(GetArgs),
    /// Set the order; it wins over the configuration's
    Set(SetArgs),
    /// Forget the order that was set, so that the configuration's or none counts again
    Clear(ClearArgs),
}

/// Arguments of `auth order get`.
#[derive(Debug, Args)]
#[command(after_help = GET_EXAMPLES)]
pub(in crate::cli) struct GetArgs {
    /// The provider [default: all]
    provider: Option<String>,
    #[command(flatten)]
    common: ProviderArgs,
}

/// Arguments of `auth order set`.
#[derive(Debug, Args)]
#[command(after_help = SET_EXAMPLES)]
pub(in crate::cli) struct SetArgs {
    /// The provider
    provider: String,
    /// Its credentials, best first
    #[arg(required = true, value_name = "PROFILE")]
    profiles: Vec<String>,
    #[command(flatten)]
    common: ProviderArgs,
}

/// Arguments of `auth order clear`.
#[derive(Debug, Args)]
#[command(after_help = CLEAR_EXAMPLES)]
pub(in crate::cli) struct ClearArgs {
    /// The provider
    provider: String,
    #[command(flatten)]
    common: ProviderArgs,
}

/// What all three take.
#[derive(Debug, Args)]
struct ProviderArgs {
    #[command(flatten)]
    agent: AgentArg,
    /// Write JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    places: Places,
}

const GET_EXAMPLES: &str = "\
Examples:
  openclaw-gateway auth order get
  openclaw-gateway auth order get openai --agent ops";

const SET_EXAMPLES: &str = "\
Examples:
  openclaw-gateway auth order set openai openai:work openai:home
  openclaw-gateway auth order set openai openai:work            Only this one is tried";

const CLEAR_EXAMPLES: &str = "\
Examples:
  openclaw-gateway auth order clear openai";

/// Runs one of them.
pub(in crate::cli) fn run(
    environment: &Environment,
    command: &OrderCommand,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    match command {
        OrderCommand::Get(arguments) => get(environment, arguments, screen),
        OrderCommand::Set(arguments) => {
            let ids = arguments.profiles.iter().map(|text| ProfileId::try_new(text));
            let ids: Vec<ProfileId> = ids.collect::<Result<_, _>>()?;
            let change = Change::of(&arguments.provider, &arguments.common, environment)?;
            ReadAgent::open(&change.files, &change.agent)?
                .seen
                .check_order(&change.provider, &ids)?;
            change.make(ids)?;
            change.tell("Set", screen)
        }
        OrderCommand::Clear(arguments) => {
            let change = Change::of(&arguments.provider, &arguments.common, environment)?;
            let own = ReadAgent::open(&change.files, &change.agent)?.own;
            // A store is opened, and made, only where there is something to do in it.
            if own.order.contains_key(&change.provider) {
                change.make(Vec::new())?;
            }
            change.tell("Cleared", screen)
        }
    }
}

/// A change of one provider's order.
struct Change<'c> {
    files: Files,
    agent: AgentId,
    provider: ProviderId,
    common: &'c ProviderArgs,
}

impl<'c> Change<'c> {
    fn of(provider: &str, common: &'c ProviderArgs, environment: &Environment) -> Result<Self, CommandError> {
        let files = Files::open(&common.places, environment)?;
        Ok(Self {
            agent: common.agent.id(&files)?,
            provider: ProviderId::try_new(provider)?,
            files,
            common,
        })
    }

    /// Stores the order; an empty one is none.
    fn make(&self, ids: Vec<ProfileId>) -> Result<(), CommandError> {
        let store = self.files.own_store(&self.agent)?;
        runtime()?.block_on(store.set_order(self.provider.clone(), ids, now()))?;
        Ok(())
    }

    /// Says what was done and what holds now.
    fn tell(&self, done: &str, screen: &mut Screen<'_>) -> Result<Outcome, CommandError> {
        let read = ReadAgent::open(&self.files, &self.agent)?;
        let order = OrderOfProvider::of(&self.files.installation(), &read.seen, &self.provider, now());
        if self.common.json {
            let done = done.to_lowercase();
            screen.json(&json!({"agent": self.agent, "done": done, "order": order}))?;
        } else {
            screen.line(format!(
                "{done} the order of {} in agent {}.",
                self.provider, self.agent
            ))?;
            show(std::slice::from_ref(&order), screen)?;
        }
        Ok(Outcome::Fine)
    }
}

fn get(
    environment: &Environment,
    arguments: &GetArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    let files = Files::open(&arguments.common.places, environment)?;
    let agent = ReadAgent::open(&files, &arguments.common.agent.id(&files)?)?;
    let orders = match &arguments.provider {
        Some(text) => {
            let provider = ProviderId::try_new(text)?;
            vec![OrderOfProvider::of(
                &files.installation(),
                &agent.seen,
                &provider,
                now(),
            )]
        }
        None => of_interest(ProfilesReport::of(&files.installation(), &agent.state(), now())),
    };
    if arguments.common.json {
        screen.json(&json!({"agent": agent.id, "orders": orders}))?;
    } else {
        show(&orders, screen)?;
    }
    Ok(Outcome::Fine)
}

/// The orders without those of servers that need no credential and were never called.
fn of_interest(report: ProfilesReport) -> Vec<OrderOfProvider> {
    let ProfilesReport {
        profiles, mut orders, ..
    } = report;
    let is_idle = |id: &ProfileId| {
        let mut all = profiles.iter();
        all.any(|profile| profile.id == *id && profile.is_idle_local())
    };
    orders.retain(|order| order.explicit || order.order.is_empty() || !order.order.iter().all(is_idle));
    orders
}

fn show(orders: &[OrderOfProvider], screen: &mut Screen<'_>) -> io::Result<()> {
    let mut table = Table::new(&["PROVIDER", "#", "PROFILE", "WHY"]);
    for order in orders {
        let why = match order.basis {
            OrderBasis::AgentOrder => "set by auth order set",
            OrderBasis::ConfigOrder => "auth.order of the configuration",
            OrderBasis::ConfiguredProfiles => "auth.profiles of the configuration, least recently used first",
            OrderBasis::StoredProfiles => "what there is, least recently used first",
        };
        for (index, id) in order.order.iter().enumerate() {
            table.row([
                order.provider.as_str().into(),
                (index + 1).into(),
                id.as_str().into(),
                Cell::new(Style::Dim, why),
            ]);
        }
        for (id, why) in &order.passed_over {
            table.row([
                order.provider.as_str().into(),
                Cell::new(Style::Warn, "not tried"),
                id.as_str().into(),
                Cell::new(Style::Warn, why.as_str()),
            ]);
        }
        if order.order.is_empty() && order.passed_over.is_empty() {
            table.row([
                order.provider.as_str().into(),
                "".into(),
                "".into(),
                "no credential".into(),
            ]);
        }
    }
    if table.is_empty() {
        return screen
            .line("There is no credential to order; store one: openclaw-gateway auth add <provider>");
    }
    screen.table(&table)
}
