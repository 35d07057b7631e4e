//! `auth order`: in which order a provider's credentials are tried, and which setting decides it (BL-48).

use std::io;

use clap::{Args, Subcommand};
use openclaw_auth_store::{OrderBasis, ProfileStore};
use openclaw_config::Environment;
use openclaw_gateway::report::{OrderOfProvider, ProfilesReport};
use openclaw_ids::{AgentId, ProfileId, ProviderId};
use serde::Serialize;
use serde_json::json;

use crate::files::{AgentArg, CommonArgs, Files, ReadAgent, runtime};
use crate::outcome::{CommandError, Outcome};
use crate::terminal::screen::{Screen, now};
use crate::terminal::{Cell, Render, Style, Table};

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
    shared: ProviderArgs,
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
    shared: ProviderArgs,
}

/// Arguments of `auth order clear`.
#[derive(Debug, Args)]
#[command(after_help = CLEAR_EXAMPLES)]
pub(in crate::cli) struct ClearArgs {
    /// The provider
    provider: String,
    #[command(flatten)]
    shared: ProviderArgs,
}

/// What all three take.
#[derive(Debug, Args)]
struct ProviderArgs {
    #[command(flatten)]
    agent: AgentArg,
    #[command(flatten)]
    common: CommonArgs,
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
            let change = Change::of(&arguments.provider, &arguments.shared, environment)?;
            ReadAgent::open(&change.files, &change.agent)?
                .seen
                .check_order(&change.provider, &ids)?;
            change.make(ids)?;
            change.show("Set", screen)
        }
        OrderCommand::Clear(arguments) => {
            let change = Change::of(&arguments.provider, &arguments.shared, environment)?;
            let own = ReadAgent::open(&change.files, &change.agent)?.own;
            // A store is opened, and made, only where there is something to do in it.
            if own.order.contains_key(&change.provider) {
                change.make(Vec::new())?;
            }
            change.show("Cleared", screen)
        }
    }
}

/// A change of one provider's order.
struct Change<'c> {
    files: Files,
    agent: AgentId,
    provider: ProviderId,
    shared: &'c ProviderArgs,
}

impl<'c> Change<'c> {
    fn of(provider: &str, shared: &'c ProviderArgs, environment: &Environment) -> Result<Self, CommandError> {
        let files = Files::open(&shared.common.places, environment)?;
        Ok(Self {
            agent: shared.agent.id(&files)?,
            provider: ProviderId::try_new(provider)?,
            files,
            shared,
        })
    }

    /// Stores the order; an empty one is none.
    fn make(&self, ids: Vec<ProfileId>) -> Result<(), CommandError> {
        let store = self.files.own_store(&self.agent)?;
        runtime()?.block_on(store.set_order(self.provider.clone(), ids, now()))?;
        Ok(())
    }

    /// Says what was done and what holds now.
    fn show(&self, done: &'static str, screen: &mut Screen<'_>) -> Result<Outcome, CommandError> {
        let read = ReadAgent::open(&self.files, &self.agent)?;
        let order = OrderOfProvider::of(&self.files.installation(), &read.seen, &self.provider, now());
        let changed = ChangedOrder {
            agent: &self.agent,
            provider: &self.provider,
            done,
            order,
        };
        screen.render(&changed, self.shared.common.output)?;
        Ok(Outcome::Fine)
    }
}

/// An order after a change of it.
struct ChangedOrder<'c> {
    agent: &'c AgentId,
    provider: &'c ProviderId,
    /// The change as the first word of a sentence.
    done: &'static str,
    order: OrderOfProvider,
}

impl Render for ChangedOrder<'_> {
    fn text(&self, screen: &mut Screen<'_>) -> io::Result<()> {
        let Self { done, provider, .. } = self;
        screen.line(format!("{done} the order of {provider} in agent {}.", self.agent))?;
        show(std::slice::from_ref(&self.order), screen)
    }

    fn json(&self) -> impl Serialize {
        json!({"agent": self.agent, "done": self.done.to_lowercase(), "order": self.order})
    }
}

fn get(
    environment: &Environment,
    arguments: &GetArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    let files = Files::open(&arguments.shared.common.places, environment)?;
    let agent = ReadAgent::open(&files, &arguments.shared.agent.id(&files)?)?;
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
    let list = OrderList {
        agent: &agent.id,
        orders,
    };
    screen.render(&list, arguments.shared.common.output)?;
    Ok(Outcome::Fine)
}

/// The orders of an agent's providers.
struct OrderList<'a> {
    agent: &'a AgentId,
    orders: Vec<OrderOfProvider>,
}

impl Render for OrderList<'_> {
    fn text(&self, screen: &mut Screen<'_>) -> io::Result<()> {
        show(&self.orders, screen)
    }

    fn json(&self) -> impl Serialize {
        json!({"agent": self.agent, "orders": self.orders})
    }
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
