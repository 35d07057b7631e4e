//! Everything about every agent in one value (BL-83).

use std::cmp::Reverse;
use std::path::PathBuf;

use jiff::Timestamp;
use openclaw_auth_store::Health;
use openclaw_chain::RunKind;
use openclaw_history::{RunOutcome, StoredRun};
use openclaw_ids::AgentId;
use serde::Serialize;

use super::chains::{ChainQuery, ChainReport};
use super::problems::{Level, LevelledProblem, Problem, troubles};
use super::profiles::{ProfileReport, ProfilesReport};
use super::sessions::SessionsReport;
use super::unix_millis::millis;
use super::{AgentState, Installation};
use crate::report::disk;
use crate::report::legacy_credentials::LegacyCredentials;

/// All agents at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusReport {
    /// When it was made.
    #[serde(serialize_with = "millis")]
    pub at: Timestamp,
    /// The agents, in configured order.
    pub agents: Vec<AgentReport>,
    /// The agents that nothing is known of, because their credentials cannot be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<UnreadAgent>,
    /// Why nothing can be written to the state directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk: Option<String>,
    /// Why the history cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread_history: Option<String>,
    /// The last requests in which something failed or was skipped, the oldest first.
    pub troubled: Vec<StoredRun>,
}

/// An agent whose credentials cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UnreadAgent {
    /// Its id.
    pub id: AgentId,
    /// What is the matter and what to do about it.
    pub problem: String,
}

/// One agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentReport {
    /// Its id.
    pub id: AgentId,
    /// Whether it is meant when none is named.
    pub default: bool,
    /// The folder of its credentials.
    pub folder: PathBuf,
    /// What a turn without a session would ask.
    pub chain: ChainReport,
    /// Its credentials.
    pub credentials: ProfilesReport,
    /// How many sessions it has.
    pub session_count: usize,
    /// The sessions on which another model answers than the selected one.
    pub on_fallback: SessionsReport,
    /// What is wrong now, the worst first.
    pub troubles: Vec<LevelledProblem>,
}

/// How many requests a status names.
const NAMED_RUNS: usize = 5;

/// The last of `runs` that met trouble.
fn troubled(mut runs: Vec<StoredRun>) -> Vec<StoredRun> {
    runs.retain(met_trouble);
    runs.drain(..runs.len().saturating_sub(NAMED_RUNS));
    runs
}

/// Whether something failed or was skipped in a run.
pub fn met_trouble(run: &StoredRun) -> bool {
    let note = &run.note;
    note.outcome != RunOutcome::Answered
        || note.first_failure.is_some()
        || note.fallback_index.is_some_and(|index| index > 0)
}

impl StatusReport {
    /// Reports these agents at `now`, without any request.
    pub fn of(installation: &Installation<'_>, states: &[AgentState<'_>], now: Timestamp) -> Self {
        let agents = states.iter();
        Self {
            at: now,
            agents: agents
                .map(|state| AgentReport::of(installation, state, now))
                .collect(),
            unread: Vec::new(),
            disk: None,
            unread_history: None,
            troubled: Vec::new(),
        }
    }

    /// The same with the agents that could not be read.
    #[must_use]
    pub fn with_unread(self, unread: Vec<UnreadAgent>) -> Self {
        Self { unread, ..self }
    }

    /// The same with the reasons why the sessions of its agents could not be read, in the same order.
    #[must_use]
    pub fn with_unread_sessions(mut self, problems: impl Iterator<Item = Option<String>>) -> Self {
        let agents = self.agents.into_iter().zip(problems);
        self.agents = agents
            .map(|(agent, problem)| agent.with_unread_sessions(problem))
            .collect();
        self
    }

    /// The same with what older versions left for its agents, in the same order.
    #[must_use]
    pub fn with_older(mut self, older: impl Iterator<Item = Vec<LegacyCredentials>>) -> Self {
        let agents = self.agents.into_iter().zip(older);
        self.agents = agents.map(|(agent, older)| agent.with_older(older)).collect();
        self
    }

    /// The same with what is wrong with the disk of the state directory.
    #[must_use]
    pub fn with_disk(mut self, trouble: Option<disk::DiskProblem>) -> Self {
        if trouble.is_some() {
            for agent in &mut self.agents {
                agent.lack_logins();
            }
        }
        Self {
            disk: trouble.map(|trouble| trouble.to_string()),
            ..self
        }
    }

    /// The same with the reason why the history could not be read.
    #[must_use]
    pub fn with_unread_history(self, problem: String) -> Self {
        Self {
            unread_history: Some(problem),
            ..self
        }
    }

    /// The same with what went wrong in the last `runs` that the history knows, the oldest first.
    #[must_use]
    pub fn with_runs(self, runs: Vec<StoredRun>) -> Self {
        Self {
            troubled: troubled(runs),
            ..self
        }
    }

    /// How bad the worst is that is wrong; `None` when nothing is.
    pub fn worst(&self) -> Option<Level> {
        let disk = self.disk.as_ref().map(|_| Level::Failing);
        let unread = self.unread.first().map(|_| Level::Failing);
        let agents = self.agents.iter().filter_map(AgentReport::worst).max();
        agents.max(disk).max(unread)
    }
}

impl AgentReport {
    /// How bad the worst is that is wrong with it; `None` when nothing is.
    pub fn worst(&self) -> Option<Level> {
        self.troubles.iter().map(|trouble| trouble.level).max()
    }

    /// The same with the reason why its sessions could not be read, if they could not.
    fn with_unread_sessions(mut self, problem: Option<String>) -> Self {
        let trouble = problem.map(|problem| Problem::UnreadSessions { problem }.levelled());
        self.troubles.extend(trouble);
        self.troubles.sort_by_key(|trouble| Reverse(trouble.level));
        self
    }

    /// The same with what older versions left for it. What is not its own, used by a gateway as it starts, or of unknown
    /// content matters when the agent has nothing else.
    fn with_older(mut self, older: Vec<LegacyCredentials>) -> Self {
        let is_mute = self.chain.first_asked().is_none();
        let matters = |older: &LegacyCredentials| {
            let is_missed = older.agent == self.id && !older.used && !older.unreadable;
            is_mute || is_missed
        };
        let mut troubles: Vec<LevelledProblem> = older
            .into_iter()
            .filter(matters)
            .map(|older| Problem::OlderCredentials(older).levelled())
            .collect();
        // It explains what is said of credentials that are missing.
        troubles.append(&mut self.troubles);
        troubles.sort_by_key(|trouble| Reverse(trouble.level));
        Self { troubles, ..self }
    }

    /// Says of expired logins that they cannot be renewed on such a disk: a new login could not be stored either.
    fn lack_logins(&mut self) {
        let is_ended = |profile: &&ProfileReport| {
            let is_own = profile.owner == self.id && profile.renews;
            is_own && profile.health == Health::Expired && profile.problem.is_none()
        };
        for profile in self.credentials.profiles.iter().filter(is_ended) {
            self.troubles.retain(|levelled| match &levelled.trouble {
                Problem::NeedsAPerson { profile: told, .. } | Problem::Unusable { profile: told, .. } => {
                    *told != profile.id
                }
                Problem::NothingCanAnswer { .. }
                | Problem::OlderCredentials(_)
                | Problem::OnFallback { .. }
                | Problem::PrimaryUnavailable { .. }
                | Problem::UnreadSessions { .. } => true,
            });
            let unusable = Problem::Unusable {
                profile: profile.id.clone(),
                eligibility: profile.eligibility,
                problem: Some("it has ended, and is renewed once the disk takes changes".to_owned()),
            };
            self.troubles.push(unusable.levelled());
        }
        self.troubles.sort_by_key(|trouble| Reverse(trouble.level));
    }

    /// Reports one agent at `now`.
    pub fn of(installation: &Installation<'_>, state: &AgentState<'_>, now: Timestamp) -> Self {
        let asking = ChainQuery {
            run: RunKind::Turn,
            session: None,
        };
        let chain = ChainReport::of(installation, state, asking, now);
        let credentials = ProfilesReport::of(installation, state, now);
        let SessionsReport { agent, sessions } = SessionsReport::of(installation, state);
        let session_count = sessions.len();
        let on_fallback = SessionsReport {
            agent,
            sessions: sessions
                .into_iter()
                .filter(|session| session.fallback.is_some())
                .collect(),
        };
        Self {
            id: state.agent.clone(),
            default: installation.config.chain.default_agent() == *state.agent,
            folder: state.folder.to_owned(),
            troubles: troubles(&chain, &credentials, &on_fallback),
            chain,
            credentials,
            session_count,
            on_fallback,
        }
    }
}
