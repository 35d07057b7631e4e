//! The chain of one run: who chose its first model, what may follow, and what would be asked now (BL-98).

use jiff::Timestamp;
use openclaw_chain::{
    Candidate, CandidateOrigin, ChainExplanation, DropCause, Dropped, IgnoredOverride, Requested, RunKind,
    SelectionFacts,
};
use openclaw_classify::Reason;
use openclaw_cooldown::{Gate, GateFacts, Position, ProbeSlot, ProfileUsage, gate};
use openclaw_ids::{AgentId, ModelRef, ProfileId, SessionKey};
use openclaw_session::{SessionEntry, probe_due};
use serde::Serialize;

use super::probes::next_probe;
use super::unix_millis::maybe_millis;
use super::usable_profiles::{UnusableProfile, UsableProfiles};
use super::{AgentState, Installation};

/// What a run is asked about.
#[derive(Clone)]
pub struct ChainQuery<'a> {
    /// What kind of run it is.
    pub run: RunKind,
    /// The session it belongs to.
    pub session: Option<(&'a SessionKey, &'a SessionEntry)>,
}

/// A chain and why it is that one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChainReport {
    /// The agent that runs.
    pub agent: AgentId,
    /// `cron`, `heartbeat`, `image`, `memory_flush`, `one_off`, `subagent` or `turn`.
    pub run: &'static str,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionKey>,
    /// Who chose the model, for people.
    pub source: String,
    /// Whether no other model may answer.
    pub strict: bool,
    /// The model a session without any override would use.
    pub primary: ModelRef,
    /// The candidates, in order.
    pub candidates: Vec<CandidateReport>,
    /// What is configured and no candidate, for people.
    pub dropped: Vec<String>,
    /// The stored override that is not used: `disallowed` or `legacy_auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignored_override: Option<&'static str>,
    /// Set when the session runs on a fallback and this run would try its primary again first.
    pub tries_primary_again: bool,
    /// How it came about, one sentence per step.
    pub trace: Vec<String>,
}

/// One member of a chain and whether it can be asked now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CandidateReport {
    /// The model.
    pub model: ModelRef,
    /// Why it is in the chain: `requested`, `fallback` or `primary`.
    pub origin: &'static str,
    /// Where it is called; none when nothing says where.
    pub base_url: Option<String>,
    /// The credentials that would be tried, in order.
    pub profiles: Vec<ProfileId>,
    /// Those of them that are tried in vain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unusable: Vec<UnusableProfile>,
    /// Whether it would be asked now.
    pub state: CandidateState,
    /// Why it rests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// When it is free again.
    #[serde(serialize_with = "maybe_millis")]
    pub free_at: Option<Timestamp>,
    /// When it would be tried before that.
    #[serde(serialize_with = "maybe_millis")]
    pub next_probe: Option<Timestamp>,
}

/// Whether a candidate would be asked now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CandidateState {
    /// It is asked.
    Ready,
    /// It rests, and is tried all the same.
    Probe,
    /// It rests, and is skipped.
    Resting,
    /// Nothing can prove to its provider who asks.
    NoCredential,
    /// Nothing says where to call its provider.
    NoEndpoint,
    /// All credentials of its provider are tried in vain.
    UnusableCredential,
}

impl CandidateState {
    /// Whether it would be asked now.
    pub fn is_asked(self) -> bool {
        match self {
            Self::Ready | Self::Probe => true,
            Self::Resting | Self::NoCredential | Self::NoEndpoint | Self::UnusableCredential => false,
        }
    }
}

impl ChainReport {
    /// Reports the chain that a run of the agent would have at `now`.
    pub fn of(
        installation: &Installation<'_>,
        state: &AgentState<'_>,
        asking: ChainQuery<'_>,
        now: Timestamp,
    ) -> Self {
        let resolver = installation.resolver;
        let default_provider = resolver.primary().provider().clone();
        let run = run_name(&asking.run);
        let mut facts = SelectionFacts::new(state.agent, asking.run);
        let entry = asking.session.map(|(_, entry)| entry);
        if let Some(entry) = entry {
            facts = facts.with_stored(entry.stored_override(&default_provider));
        }
        let selection = resolver.select(&facts);
        let is_turn = matches!(facts.run, RunKind::Turn);
        let probe = entry
            .filter(|_| is_turn)
            .and_then(|entry| probe_due(entry, &selection.primary, now));
        let requested = match &probe {
            Some(probe) => Requested::from(probe.primary()),
            None => selection.requested.clone(),
        };
        let explained = resolver.explain_selected_chain(&requested, &selection);
        Self {
            agent: state.agent.clone(),
            run,
            session: asking.session.map(|(key, _)| key.clone()),
            source: selection.source.to_string(),
            strict: selection.strict,
            primary: selection.primary,
            candidates: candidates(installation, state, &explained, now),
            dropped: dropped(&explained),
            ignored_override: selection.ignored.map(|ignored| match ignored {
                IgnoredOverride::Disallowed => "disallowed",
                IgnoredOverride::LegacyAuto => "legacy_auto",
            }),
            tries_primary_again: probe.is_some(),
            trace: selection.trace,
        }
    }

    /// Reports the image chain, which has no session, no cooldowns and no strictness of its own.
    pub fn of_images(
        installation: &Installation<'_>,
        state: &AgentState<'_>,
        model: Option<&str>,
        now: Timestamp,
    ) -> Self {
        let explained = installation.resolver.explain_image_chain(model);
        let trace = match model {
            Some(model) => format!("asks for {model}, then agents.defaults.imageModel.fallbacks"),
            None => "asks for agents.defaults.imageModel, then its fallbacks".to_owned(),
        };
        Self {
            agent: state.agent.clone(),
            run: "image",
            session: None,
            source: "image model".to_owned(),
            strict: explained.candidates.len() == 1,
            primary: installation.resolver.agent_primary(state.agent),
            candidates: candidates(installation, state, &explained, now),
            dropped: dropped(&explained),
            ignored_override: None,
            tries_primary_again: false,
            trace: vec![trace],
        }
    }

    /// The candidate that would be asked first now.
    pub fn first_asked(&self) -> Option<&CandidateReport> {
        self.candidates
            .iter()
            .find(|candidate| candidate.state.is_asked())
    }

    /// The credentials of the chain that are tried in vain, each once, for people.
    pub fn unusable(&self) -> Vec<String> {
        let mut told = Vec::new();
        for UnusableProfile { profile, problem } in
            self.candidates.iter().flat_map(|candidate| &candidate.unusable)
        {
            let line = format!("{profile}: {problem}");
            if !told.contains(&line) {
                told.push(line);
            }
        }
        told
    }
}

fn run_name(run: &RunKind) -> &'static str {
    match run {
        RunKind::Cron(_) => "cron",
        RunKind::Heartbeat { .. } => "heartbeat",
        RunKind::MemoryFlush { .. } => "memory_flush",
        RunKind::OneOff { .. } => "one_off",
        RunKind::Subagent => "subagent",
        RunKind::Turn => "turn",
    }
}

fn dropped(explained: &ChainExplanation) -> Vec<String> {
    // The primary is appended to every chain without being written there, so that it is there already is no news.
    let written = |dropped: &&Dropped| dropped.origin != CandidateOrigin::Primary;
    let dropped = explained.dropped.iter().filter(written);
    dropped
        .map(|dropped| match &dropped.cause {
            DropCause::Duplicate(model) => format!("{} is already in the chain as {model}", dropped.origin),
            DropCause::Unreadable => format!("{} is not a model reference", dropped.origin),
        })
        .collect()
}

fn candidates(
    installation: &Installation<'_>,
    state: &AgentState<'_>,
    explained: &ChainExplanation,
    now: Timestamp,
) -> Vec<CandidateReport> {
    let chain = &explained.candidates;
    (0..chain.len())
        .map(|index| CandidateReport::of(installation, state, chain, index, now))
        .collect()
}

impl CandidateReport {
    /// Reports how the candidate at `index` of a chain stands at `now`.
    fn of(
        installation: &Installation<'_>,
        state: &AgentState<'_>,
        chain: &[Candidate],
        index: usize,
        now: Timestamp,
    ) -> Self {
        let (Candidate { model, origin, .. }, snapshot) = (&chain[index], state.seen);
        let proofs = UsableProfiles::of(installation, snapshot, model.provider(), now);
        let endpoint = installation.endpoints.get(model.provider());
        let mut report = Self {
            model: model.clone(),
            origin: match origin {
                CandidateOrigin::Fallback(_) => "fallback",
                CandidateOrigin::Primary => "primary",
                CandidateOrigin::Requested => "requested",
            },
            base_url: endpoint.map(|endpoint| endpoint.base_url().to_owned()),
            profiles: proofs.tried,
            unusable: proofs.unusable,
            state: CandidateState::Ready,
            reason: None,
            free_at: None,
            next_probe: None,
        };
        if report.base_url.is_none() {
            report.state = CandidateState::NoEndpoint;
            return report;
        }
        if report.profiles.is_empty() {
            report.state = CandidateState::NoCredential;
            return report;
        }
        if proofs.usable.is_empty() {
            report.state = CandidateState::UnusableCredential;
            return report;
        }
        let keys = installation.endpoints.keys();
        let reach = keys.reach(snapshot, model.provider(), &proofs.usable, now);
        let usages: Vec<&ProfileUsage> = reach.profiles.iter().map(|id| snapshot.usage(id)).collect();
        let same_provider = |other: &Candidate| other.model.provider() == model.provider();
        let facts = GateFacts {
            position: if index == 0 {
                Position::Primary
            } else {
                Position::Fallback
            },
            is_only_candidate: chain.len() == 1,
            model: model.model(),
            profiles: &usages,
            endpoint: reach.endpoint,
            last_probe_at: snapshot
                .probes
                .get(model.provider())
                .map(|probe| probe.last_probe_at),
            has_earlier_sibling: chain[..index].iter().any(same_provider),
            slot: ProbeSlot::Free,
        };
        let (state, reason, free_at) = match gate(&facts, now) {
            Gate::Open => (CandidateState::Ready, None, None),
            Gate::Probe(probe) => (CandidateState::Probe, Some(probe.reason), probe.soonest),
            Gate::Skip(skip) => (CandidateState::Resting, Some(skip.reason), skip.soonest),
        };
        let next_probe = free_at.and_then(|_| next_probe(&facts, now));
        let reason = reason.map(|reason| told_reason(&usages, model, free_at, now).unwrap_or(reason));
        Self {
            state,
            reason,
            free_at,
            next_probe,
            ..report
        }
    }
}

/// Why the credential rests that is free at `free_at`: what is told of a rest and of its end must be one credential's.
/// The gate itself goes by the one that rests the longest (D15). `None` when something else than a credential rests.
fn told_reason(
    usages: &[&ProfileUsage],
    model: &ModelRef,
    free_at: Option<Timestamp>,
    now: Timestamp,
) -> Option<Reason> {
    let last = |usage: &&ProfileUsage| {
        let windows = usage.blocking(Some(model.model()), now);
        windows
            .map(|(_, window)| (window.until, window.reason))
            .max_by_key(|(until, _)| *until)
    };
    let mut ends = usages.iter().filter_map(last);
    ends.find(|(until, _)| Some(*until) == free_at)
        .map(|(_, reason)| reason)
}
