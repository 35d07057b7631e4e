//! `chain`: which models a run would ask, in which order, what chose the first, and which of them can be asked now.

mod jobs;

use std::io;

use clap::{Args, ValueEnum};
use jiff::Timestamp;
use openclaw_chain::{CronPayload, OneOffPolicy, RunKind};
use openclaw_config::{BodyModelPolicy, Environment};
use openclaw_gateway::report::free_and_tried;
use openclaw_gateway::report::legacy_credentials::LegacyCredentials;
use openclaw_gateway::report::{CandidateReport, CandidateState, ChainQuery, ChainReport};
use openclaw_ids::{ModelRef, ProviderId, SessionKey};
use serde::Serialize;

use crate::files::{AgentArg, CommonArgs, Files, ReadAgent};
use crate::outcome::{CommandError, Outcome};
use crate::terminal::screen::{Screen, now};
use crate::terminal::{Cell, Render, Style, Table};

/// Arguments of `chain`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ChainArgs {
    #[command(flatten)]
    agent: AgentArg,
    /// The next turn of this session
    #[arg(long, value_name = "KEY")]
    session: Option<String>,
    /// A scheduled job: by its id or name in cron/jobs.json, or, without one, as --model and --fallback describe it
    #[arg(long, value_name = "JOB", num_args = 0..=1, default_missing_value = "", conflicts_with = "session")]
    cron: Option<String>,
    /// A heartbeat turn
    #[arg(long, conflicts_with = "cron")]
    heartbeat: bool,
    /// A run of a sub-agent
    #[arg(long, conflicts_with_all = ["cron", "heartbeat"])]
    subagent: bool,
    /// A run over the image models
    #[arg(long, conflicts_with_all = ["cron", "heartbeat", "subagent", "session"])]
    image: bool,
    /// The model that this run names: a reference or an alias
    #[arg(long, value_name = "MODEL", conflicts_with = "subagent")]
    model: Option<String>,
    /// A fallback that the scheduled job names; several in order
    #[arg(long = "fallback", value_name = "MODEL", requires = "cron")]
    fallbacks: Vec<String>,
    /// What may follow a model that is named for this run alone [default: as in the settings]
    #[arg(long, value_enum, requires = "model")]
    policy: Option<Policy>,
    #[command(flatten)]
    common: CommonArgs,
}

const EXAMPLES: &str = "\
Examples:
  openclaw-gateway chain                             A turn of the default agent
  openclaw-gateway chain --agent ops                 A turn of another agent
  openclaw-gateway chain --session agent:main:tg:1   The next turn of a session
  openclaw-gateway chain --cron nightly-report       A scheduled job, by its id or name
  openclaw-gateway chain --cron --model openai/gpt-5.5 --fallback groq/llama-3
                                                     A scheduled job that is not there yet
  openclaw-gateway chain --model openai/gpt-5.5      A request that names a model

Exit status: 0 when something can be asked now, 1 when nothing can, 2 when it cannot tell.";

/// What may follow a model that a run names.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Policy {
    /// The configured chain, started at the model
    Chain,
    /// Nothing
    Strict,
}

/// No such session.
#[derive(Debug, thiserror::Error)]
#[error("agent `{agent}` has no session `{key}`; `session list` shows the ones it has")]
pub(super) struct UnknownSession {
    pub(super) agent: openclaw_ids::AgentId,
    pub(super) key: String,
}

/// A model that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no model; write `provider/model`, or an alias of the configuration")]
pub(super) struct UnknownModel(pub(super) String);

/// What to do about a provider that cannot be called.
pub(super) fn no_address(provider: &ProviderId) -> String {
    format!("nothing says where provider `{provider}` is called; set models.providers.{provider}.baseUrl")
}

/// Models were named beside a job that is there.
#[derive(Debug, thiserror::Error)]
#[error(
    "a job that is there names its models itself; leave --model and --fallback out, or leave the job out after --cron to \
     see what one with them would use"
)]
struct JobNamesItsModels;

/// A chain, and what older versions left for a candidate without a credential.
#[derive(Debug, Serialize)]
struct ShownChain {
    #[serde(flatten)]
    chain: ChainReport,
    /// Files of older versions and the credentials that are in them alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    older: Vec<LegacyCredentials>,
}

impl ShownChain {
    fn of(chain: ChainReport, files: &Files, agent: &ReadAgent) -> Self {
        let mut candidates = chain.candidates.iter();
        let lacks = candidates.any(|candidate| candidate.state == CandidateState::NoCredential);
        Self {
            older: if lacks { files.left_for(agent) } else { Vec::new() },
            chain,
        }
    }
}

/// Shows the chain.
pub(super) fn run(
    environment: &Environment,
    arguments: &ChainArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    let files = Files::open(&arguments.common.places, environment)?;
    let shown = shown(arguments, &files)?;
    screen.render(&shown, arguments.common.output)?;
    Ok(match shown.chain.first_asked() {
        Some(_) => Outcome::Fine,
        None => Outcome::Findings,
    })
}

fn shown(arguments: &ChainArgs, files: &Files) -> Result<ShownChain, CommandError> {
    let job = match arguments.cron.as_deref() {
        None | Some("") => None,
        Some(name) => Some(jobs::find(&files.state_dir, name)?),
    };
    if job.is_some() && (arguments.model.is_some() || !arguments.fallbacks.is_empty()) {
        return Err(JobNamesItsModels.into());
    }
    let agent = match job.as_ref().and_then(|job| job.agent.clone()) {
        Some(agent) => agent,
        None => arguments.agent.id(files)?,
    };
    let agent = match arguments.session {
        None => ReadAgent::open(files, &agent)?,
        Some(_) => ReadAgent::open_with_sessions(files, &agent)?,
    };
    let (installation, state) = (files.installation(), agent.state());
    if arguments.image {
        let model = arguments.model.as_deref();
        let chain = ChainReport::of_images(&installation, &state, model, now());
        return Ok(ShownChain::of(chain, files, &agent));
    }
    let session = match &arguments.session {
        None => None,
        Some(text) => Some(session(&agent, text)?),
    };
    let run = match job {
        Some(job) => RunKind::Cron(job.payload),
        None => kind(arguments, files)?,
    };
    let chain = ChainReport::of(&installation, &state, ChainQuery { run, session }, now());
    Ok(ShownChain::of(chain, files, &agent))
}

/// The session of a key.
pub(super) fn session<'a>(
    agent: &'a ReadAgent,
    text: &str,
) -> Result<(&'a SessionKey, &'a openclaw_session::SessionEntry), UnknownSession> {
    let found = agent.sessions.iter().find(|(key, _)| key.as_str() == text.trim());
    found
        .map(|(key, entry)| (key, entry))
        .ok_or_else(|| UnknownSession {
            agent: agent.id.clone(),
            key: text.to_owned(),
        })
}

fn kind(arguments: &ChainArgs, files: &Files) -> Result<RunKind, UnknownModel> {
    if arguments.cron.is_some() {
        let listed = (!arguments.fallbacks.is_empty()).then(|| arguments.fallbacks.clone());
        return Ok(RunKind::Cron(CronPayload {
            model: arguments.model.clone(),
            fallbacks: listed,
            ..CronPayload::default()
        }));
    }
    if arguments.heartbeat {
        let model = arguments.model.clone();
        return Ok(RunKind::Heartbeat { model });
    }
    if arguments.subagent {
        return Ok(RunKind::Subagent);
    }
    let Some(text) = &arguments.model else {
        return Ok(RunKind::Turn);
    };
    let model = files.resolver.resolve(text);
    let model = model.ok_or_else(|| UnknownModel(text.clone()))?;
    let policy = match arguments.policy {
        Some(Policy::Chain) => OneOffPolicy::Chain,
        Some(Policy::Strict) => OneOffPolicy::Strict,
        None => match files.config.failover.body_model_policy {
            BodyModelPolicy::Auto => OneOffPolicy::ChainWhenConfigured,
            BodyModelPolicy::Chain => OneOffPolicy::Chain,
            BodyModelPolicy::Strict => OneOffPolicy::Strict,
        },
    };
    Ok(RunKind::OneOff { model, policy })
}

impl Render for ShownChain {
    fn text(&self, screen: &mut Screen<'_>) -> io::Result<()> {
        show_head(&self.chain, screen)?;
        screen.section("Candidates", &table(&self.chain, now()))?;
        lines("Cannot be used", &self.chain.unusable(), screen)?;
        lines("Left out", &self.chain.dropped, screen)?;
        lines("Why", &self.chain.trace, screen)?;
        let mut older = self.older.iter();
        older.try_for_each(|older| screen.line(format!("\n{older}.")))
    }

    fn json(&self) -> impl Serialize {
        self
    }
}

fn show_head(report: &ChainReport, screen: &mut Screen<'_>) -> io::Result<()> {
    let what = match &report.session {
        Some(key) => format!("session {key} of agent {}", report.agent),
        None => format!("agent {}", report.agent),
    };
    let run = report.run.replace('_', " ");
    screen.toned(Style::Strong, format!("{run} of {what}"))?;
    screen.line(format!("  Chosen by   {}", report.source))?;
    let strict = if report.candidates.is_empty() {
        "there is no model to ask; set agents.defaults.imageModel, or name one with --model"
    } else if report.strict {
        "strict: no other model may answer"
    } else {
        "may fall back"
    };
    screen.line(format!("  Fallbacks   {strict}"))?;
    if report.tries_primary_again {
        screen.line("  Recovery    the session's own model is due to be tried again, before its fallback")?;
    }
    if let Some(why) = report.ignored_override {
        screen.line(format!(
            "  Ignored     the session's stored choice ({why}); it is removed by its next turn"
        ))?;
    }
    Ok(())
}

fn lines(heading: &str, lines: &[String], screen: &mut Screen<'_>) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    screen.line("")?;
    screen.toned(Style::Strong, heading)?;
    lines.iter().try_for_each(|line| screen.line(format!("  {line}")))
}

/// The candidates as a table.
pub(super) fn table(report: &ChainReport, now: Timestamp) -> Table {
    let mut table = Table::new(&["#", "MODEL", "STATE", "WHY", "FREE IN", "TRIED IN", "CREDENTIALS"]);
    for (index, candidate) in report.candidates.iter().enumerate() {
        let (free, tried) = free_and_tried(candidate.reason, candidate.free_at, candidate.next_probe, now);
        let profiles = candidate
            .profiles
            .iter()
            .map(openclaw_ids::ProfileId::as_str)
            .collect::<Vec<_>>();
        table.row([
            (index + 1).into(),
            ModelRef::key(&candidate.model).into(),
            state(candidate),
            candidate
                .reason
                .map(|reason| reason.to_string())
                .unwrap_or_default()
                .into(),
            free.into(),
            tried.into(),
            profiles.join(", ").into(),
        ]);
    }
    table
}

fn state(candidate: &CandidateReport) -> Cell {
    match candidate.state {
        CandidateState::Ready => Cell::new(Style::Good, "ready"),
        CandidateState::Probe => Cell::new(Style::Warn, "tried though it rests"),
        CandidateState::Resting => Cell::new(Style::Warn, "rests"),
        CandidateState::NoCredential => Cell::new(Style::Bad, "no credential"),
        CandidateState::NoEndpoint => Cell::new(Style::Bad, "no address"),
        CandidateState::UnusableCredential => Cell::new(Style::Bad, "no usable credential"),
    }
}
