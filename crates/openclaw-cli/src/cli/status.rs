//! `status`: what every agent would use now, what cools down, and which sessions are on a fallback.

use std::io;
use std::time::Duration;

use clap::{Args, ValueEnum};
use openclaw_auth_store::{Eligibility, ExclusionReason, Health};
use openclaw_classify::Reason;
use openclaw_classify::error_chain;
use openclaw_config::Environment;
use openclaw_gateway::report::ago;
use openclaw_gateway::report::disk;
use openclaw_gateway::report::free_and_tried;
use openclaw_gateway::report::{
    AgentReport, CandidateState, Level, Problem, ProfileReport, SessionReport, StatusReport, UnreadAgent,
};
use openclaw_history::{HistoryError, HistoryReader, RunFilter, RunOutcome, StoredRun};
use openclaw_ids::{AgentId, ModelRef};
use serde::Serialize;

use super::chain;
use crate::files::{AgentArg, CommonArgs, Files, ReadAgent, runtime};
use crate::outcome::{CommandError, Outcome};
use crate::terminal::screen::{Screen, now};
use crate::terminal::{Cell, Render, Style, Table};

/// Arguments of `status`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct StatusArgs {
    #[command(flatten)]
    agent: AgentArg,
    /// Show it again and again, every second, until interrupted
    #[arg(long, conflicts_with_all = ["json", "check"])]
    watch: bool,
    /// End with status 1 when something is wrong, for monitors and scripts
    #[arg(long, value_enum, value_name = "LEVEL", num_args = 0..=1, default_missing_value = "failing")]
    check: Option<CheckedLevel>,
    #[command(flatten)]
    common: CommonArgs,
}

/// How bad something must be to count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CheckedLevel {
    /// Also what passes by itself while a fallback answers
    Degraded,
    /// What needs a person: no model can answer, a credential was refused or cannot be used
    Failing,
}

const EXAMPLES: &str = "\
Examples:
  openclaw-gateway status                    What every agent would use now, and what rests
  openclaw-gateway status --agent ops        One agent
  openclaw-gateway status --watch            The same, counting down
  openclaw-gateway status --check            Ends with 1 when something needs a person
  openclaw-gateway status --check degraded   Ends with 1 also while a fallback answers
  openclaw-gateway status --json | jq '.agents[].troubles'

It reads the files, so it works whether or not a gateway is running.";

/// How often a watched status is shown.
const EVERY: Duration = Duration::from_secs(1);

/// Shows the status.
pub(super) fn run(
    environment: &Environment,
    arguments: &StatusArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    if arguments.watch {
        return watch(environment, arguments, screen);
    }
    let report = read(environment, arguments)?;
    screen.render(&report, arguments.common.output)?;
    let least = arguments.check.map(|checked| match checked {
        CheckedLevel::Degraded => Level::Degraded,
        CheckedLevel::Failing => Level::Failing,
    });
    Ok(match (least, report.worst()) {
        (Some(least), Some(worst)) if worst >= least => Outcome::Findings,
        (Some(_) | None, _) => Outcome::Fine,
    })
}

fn watch(
    environment: &Environment,
    arguments: &StatusArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    let runtime = runtime()?;
    loop {
        let report = read(environment, arguments)?;
        screen.clear()?;
        report.text(screen)?;
        screen.toned(Style::Dim, "\nEvery second; Ctrl-C ends it.")?;
        let waited = runtime.block_on(async {
            tokio::select! {
                () = tokio::time::sleep(EVERY) => Ok(WatchEvent::Over),
                signal = tokio::signal::ctrl_c() => signal.map(|()| WatchEvent::Interrupted),
            }
        });
        if waited? == WatchEvent::Interrupted {
            return Ok(Outcome::Fine);
        }
    }
}

/// How a wait ended.
#[derive(PartialEq, Eq)]
enum WatchEvent {
    Interrupted,
    Over,
}

fn read(environment: &Environment, arguments: &StatusArgs) -> Result<StatusReport, CommandError> {
    let files = Files::open(&arguments.common.places, environment)?;
    let agents = arguments.agent.ids(&files)?;
    let (mut read, mut unread) = (Vec::new(), Vec::new());
    for id in agents {
        match ReadAgent::open(&files, &id) {
            Ok(agent) => read.push(agent),
            Err(error) => unread.push((id, error)),
        }
    }
    if read.is_empty()
        && let Some((_, error)) = unread.pop()
    {
        return Err(error);
    }
    let unread = unread.into_iter().map(|(id, error)| UnreadAgent {
        id,
        problem: error_chain::line(&*error),
    });
    let states: Vec<_> = read.iter().map(ReadAgent::state).collect();
    let report = StatusReport::of(&files.installation(), &states, now());
    let report = report.with_unread_sessions(read.iter().map(ReadAgent::unread_sessions));
    let report = report.with_older(read.iter().map(|agent| files.left_for(agent)));
    let report = report.with_unread(unread.collect());
    let report = report.with_disk(disk::problem(&files.state_dir));
    Ok(match runs(&files, arguments.agent.named(&files)?) {
        Ok(runs) => report.with_runs(runs),
        Err(error) => report.with_unread_history(error_chain::line(&error)),
    })
}

/// How many of the last requests are looked at.
const LOOKED_AT: usize = 200;

/// The last requests, the oldest first.
fn runs(files: &Files, agent: Option<AgentId>) -> Result<Vec<StoredRun>, HistoryError> {
    let filter = RunFilter {
        agent,
        latest: Some(LOOKED_AT),
        ..RunFilter::default()
    };
    match HistoryReader::open(&files.state_dir)? {
        Some(history) => history.runs(&filter),
        None => Ok(Vec::new()),
    }
}

impl Render for StatusReport {
    fn text(&self, screen: &mut Screen<'_>) -> io::Result<()> {
        for (position, agent) in self.agents.iter().enumerate() {
            if position > 0 {
                screen.line("")?;
            }
            show_agent(agent, self, screen)?;
        }
        for unread in &self.unread {
            show_unread(unread, screen)?;
        }
        screen.section("Last requests that met trouble", &troubled(self))?;
        if let Some(problem) = &self.unread_history {
            screen.line(format!("\nThe last requests cannot be shown: {problem}."))?;
        }
        match &self.disk {
            Some(trouble) => screen.line(format!("\nDisk: {trouble}.")),
            None => Ok(()),
        }
    }

    fn json(&self) -> impl Serialize {
        self
    }
}

fn show_unread(unread: &UnreadAgent, screen: &mut Screen<'_>) -> io::Result<()> {
    screen.line("")?;
    let title = format!("Agent {}", unread.id);
    let title = screen.palette.paint(Style::Strong, title);
    let word = screen.palette.paint(Style::Bad, "cannot be shown");
    screen.line(format!("{title}: {word}: {}.", unread.problem))
}

fn troubled(report: &StatusReport) -> Table {
    let mut table = Table::new(&[
        "WHEN",
        "REQUEST",
        "AGENT",
        "ASKED FOR",
        "OUTCOME",
        "FIRST FAILURE",
    ]);
    for StoredRun { at, note } in &report.troubled {
        let outcome = match (note.outcome, &note.served) {
            (RunOutcome::Answered, Some(model)) => Cell::new(Style::Warn, model.key()),
            (RunOutcome::Answered, None) => Cell::new(Style::Warn, "answered"),
            (RunOutcome::Cancelled, _) => Cell::new(Style::Dim, "cancelled"),
            (RunOutcome::Failed, _) => Cell::new(Style::Bad, "nobody answered"),
        };
        table.row([
            ago(*at, report.at).into(),
            note.run_id.as_str().into(),
            note.agent.as_str().into(),
            note.chain.first().map(ModelRef::key).unwrap_or_default().into(),
            outcome,
            note.first_failure
                .map(|reason| reason.to_string())
                .unwrap_or_default()
                .into(),
        ]);
    }
    table
}

fn show_agent(agent: &AgentReport, report: &StatusReport, screen: &mut Screen<'_>) -> io::Result<()> {
    let default = if agent.default { " (default)" } else { "" };
    let sessions = match agent.session_count {
        1 => "1 session".to_owned(),
        count => format!("{count} sessions"),
    };
    let (tone, word) = verdict(agent);
    let title = format!("Agent {}{default}", agent.id);
    let title = screen.palette.paint(Style::Strong, title);
    let word = screen.palette.paint(tone, word);
    screen.line(format!("{title}: {word}, {sessions}"))?;
    screen.section("Chain", &chain::table(&agent.chain, report.at))?;
    screen.section("Credentials", &credentials(&agent.credentials.profiles, report))?;
    let on_fallback = &agent.on_fallback.sessions;
    screen.section("Sessions on a fallback", &fallbacks(on_fallback, report))?;
    if !agent.troubles.is_empty() {
        screen.line("")?;
        screen.toned(Style::Strong, "What is wrong")?;
        for trouble in &agent.troubles {
            screen.line(format!("  {}", describe(&trouble.trouble)))?;
        }
    }
    Ok(())
}

fn verdict(agent: &AgentReport) -> (Style, &'static str) {
    let is_mute = agent.chain.first_asked().is_none();
    match agent.worst() {
        Some(_) if is_mute => (Style::Bad, "no model can answer now"),
        Some(Level::Failing) => (Style::Bad, "needs attention"),
        Some(Level::Degraded) => (Style::Warn, "a fallback answers"),
        None => (Style::Good, "all fine"),
    }
}

/// The credentials that are of interest: those of the agent's chain, and all that cool down or cannot be used.
fn credentials(profiles: &[ProfileReport], report: &StatusReport) -> Table {
    let now = report.at;
    let mut table = Table::new(&[
        "PROFILE",
        "STATE",
        "WHY",
        "SINCE",
        "FREE IN",
        "TRIED IN",
        "LAST USED",
    ]);
    for profile in profiles.iter().filter(|profile| !profile.is_local()) {
        let used = profile.last_used.map(|at| ago(at, now)).unwrap_or_default();
        if profile.windows.is_empty() {
            let (tone, state) = match (profile.eligibility, profile.health) {
                (Eligibility::Ok, Health::Expiring | Health::Expired) if !profile.renews => {
                    (Style::Warn, "expiring")
                }
                (Eligibility::Ok, _) if profile.position.is_some() => (Style::Good, "ready"),
                (Eligibility::Ok, _) => (Style::Dim, "not used"),
                _ => (Style::Bad, "unusable"),
            };
            let why = match profile.eligibility {
                Eligibility::Ok => profile.passed_over.map_or("", ExclusionReason::as_str),
                why => why.as_str(),
            };
            table.row([
                profile.id.as_str().into(),
                Cell::new(tone, state),
                why.into(),
                "".into(),
                "".into(),
                "".into(),
                used.as_str().into(),
            ]);
        }
        for window in profile.telling_windows() {
            let state = match &window.model {
                Some(model) => format!("{model} rests"),
                None => "rests".to_owned(),
            };
            let (free, tried) =
                free_and_tried(Some(window.reason), Some(window.until), window.next_probe, now);
            table.row([
                profile.id.as_str().into(),
                Cell::new(Style::Warn, state),
                window.reason.as_str().into(),
                ago(window.since, now).into(),
                free.into(),
                tried.into(),
                used.as_str().into(),
            ]);
        }
    }
    table
}

fn fallbacks(sessions: &[SessionReport], report: &StatusReport) -> Table {
    let mut table = Table::new(&["SESSION", "SELECTED", "ANSWERED BY", "SINCE", "WHY"]);
    for session in sessions {
        let Some(fallback) = &session.fallback else {
            continue;
        };
        let since = fallback.since.map(|at| ago(at, report.at));
        table.row([
            session.key.as_str().into(),
            session.selected.key().into(),
            Cell::new(Style::Warn, fallback.model.key()),
            since.unwrap_or_default().into(),
            fallback.reason.clone().unwrap_or_default().into(),
        ]);
    }
    table
}

/// Why the first model of a chain is not asked, and what to do about it where time does not mend it.
fn primary(model: &ModelRef, state: CandidateState, reason: Option<Reason>) -> String {
    let (name, provider) = (ModelRef::key(model), model.provider());
    match state {
        CandidateState::NoCredential => format!(
            "{name} has no credential, so the next in the chain answers; store one: openclaw-gateway auth add {provider}"
        ),
        CandidateState::NoEndpoint => format!(
            "{name} has no address, so the next in the chain answers; set models.providers.{provider}.baseUrl"
        ),
        CandidateState::UnusableCredential => {
            format!("{name} has no credential that can be used, so the next in the chain answers.")
        }
        CandidateState::Probe | CandidateState::Ready | CandidateState::Resting => {
            let why = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
            format!("{name} cannot be asked now{why}; the next in the chain answers.")
        }
    }
}

fn describe(trouble: &Problem) -> String {
    match trouble {
        Problem::NothingCanAnswer {
            without_credential: Some(provider),
        } => {
            format!("No model of the chain has a credential; store one: openclaw-gateway auth add {provider}")
        }
        Problem::NothingCanAnswer { .. } => {
            "No model of the chain can be asked now; see FREE IN above, or `auth add` another key.".to_owned()
        }
        Problem::PrimaryUnavailable { model, state, reason } => primary(model, *state, *reason),
        Problem::NeedsAPerson { profile, reason } => format!(
            "{profile} was refused ({reason}) and waits for you: mend the account or the key, then `cooldown clear {profile}`."
        ),
        Problem::Unusable {
            profile,
            problem: Some(problem),
            ..
        } => format!("{profile} cannot be used: {problem}."),
        Problem::Unusable {
            profile, eligibility, ..
        } => {
            format!(
                "{profile} cannot be used ({}); replace it with `auth add`, or `auth remove {profile}`.",
                eligibility.as_str()
            )
        }
        Problem::OlderCredentials(older) => format!("{older}."),
        Problem::UnreadSessions { problem } => format!("The sessions cannot be shown: {problem}."),
        Problem::OnFallback { session } => {
            format!("Session {session} is answered by a fallback; it returns to its model by itself.")
        }
    }
}
