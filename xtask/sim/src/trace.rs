//! What one run did, as plain data: everything the checks look at.

use std::sync::Arc;

use openclaw_auth_store::AuthSnapshot;
use openclaw_classify::Reason;
use openclaw_history::recording::RunRecording;
use openclaw_runner::RunReport;

use crate::faults::provider::{Flaw, Marks, ProviderFault};
use crate::faults::store_outage::File;

/// One run. Times are true ones in Unix milliseconds; a process whose clock is ahead sees later ones.
#[derive(Debug, Clone)]
pub(crate) struct Trace {
    pub(crate) run: String,
    pub(crate) agent: usize,
    /// How far the clock of its process is ahead.
    pub(crate) ahead: i64,
    /// Whether all clocks of the world agree.
    pub(crate) clocks_agree: bool,
    /// Whether they agree well enough for leases.
    pub(crate) leases_hold: bool,
    pub(crate) began: i64,
    pub(crate) ended: i64,
    pub(crate) chain: Vec<Candidate>,
    /// The person's profile, when it is of the requested model's provider.
    pub(crate) pinned: Option<String>,
    pub(crate) max_attempts: Option<usize>,
    pub(crate) max_duration: Option<i64>,
    pub(crate) calls: Vec<Call>,
    pub(crate) events: Vec<Event>,
    pub(crate) ending: Ending,
    pub(crate) report: Option<RunReport>,
    /// What the run knew last of the usage state.
    pub(crate) view: Arc<AuthSnapshot>,
    /// Set when the session is on an automatic override.
    pub(crate) override_: Option<OnOverride>,
    /// What was seen of the agent's logins since its run before.
    pub(crate) logins: LoginCounts,
    /// Set on the second of two turns of a session that overlapped.
    pub(crate) overlap: Option<Overlap>,
    /// The stored selection before and after, when only the run touched it.
    pub(crate) selection: Option<(String, String)>,
    /// What a person chose, and what the session holds of it.
    pub(crate) pins: Option<(Pins, Pins)>,
    /// Whether the run still holds a probe's lease.
    pub(crate) holds_lease: bool,
    pub(crate) recording: Option<RunRecording>,
}

/// What was seen of the logins of an agent since the last look.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LoginCounts {
    /// Refreshes that were answered.
    pub(crate) renewed: usize,
    /// Refreshes of one login that were in flight at the same time.
    pub(crate) at_once: usize,
    /// Refresh tokens that were sent although they had been answered.
    pub(crate) resent: usize,
    /// Calls with a login's token.
    pub(crate) calls: usize,
    /// Calls with an access token that had ended.
    pub(crate) ended: usize,
}

/// A candidate, and every credential there is for it.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) provider: String,
    pub(crate) model: String,
    pub(crate) profiles: Vec<String>,
}

/// One call of the upstream.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// Its place in the chain, from 0.
    pub(crate) candidate: usize,
    pub(crate) profile: Option<String>,
    pub(crate) began: i64,
    /// None while it goes on, and for good when it was dropped.
    pub(crate) ended: Option<i64>,
    pub(crate) fate: CallOutcome,
    pub(crate) is_probe: bool,
    /// Other probes of the same provider of the same agent that were in flight when it began.
    pub(crate) other_probes: usize,
    /// What the run knew of the usage state when it began.
    pub(crate) view: Arc<AuthSnapshot>,
}

/// What really became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallOutcome {
    Answered,
    /// It was dropped.
    Dropped,
    Flawed(Flaw),
    Troubled(ProviderFault),
}

impl CallOutcome {
    /// What may be marked for it.
    pub(crate) fn marks(self) -> Marks {
        match self {
            Self::Answered | Self::Dropped | Self::Flawed(_) => Marks::Nothing,
            Self::Troubled(trouble) => trouble.marks(),
        }
    }
}

/// Something that happened in a run, in order.
#[derive(Debug, Clone)]
pub(crate) enum Event {
    Called(usize),
    Ended(usize),
    DecisionEvent(DecisionEvent),
    /// A failure was written, or was to be: what it concerns.
    Wrote(Marks, Option<String>),
    /// A probe's lease was asked for: of which provider, and whether it was given.
    Leased(String, bool),
    /// A write of this store went wrong, or was not done in time.
    Lost(File),
    /// A person chose another model, and the run goes there.
    Redirected,
    /// The same credential is asked once more.
    Again,
    /// Another credential is asked.
    Rotated,
}

/// A decision about a candidate.
#[derive(Debug, Clone)]
pub(crate) struct DecisionEvent {
    pub(crate) kind: Kind,
    /// From 0.
    pub(crate) candidate: usize,
    pub(crate) reason: Option<Reason>,
    pub(crate) text: String,
    pub(crate) last_resort: bool,
    pub(crate) at: i64,
    pub(crate) view: Arc<AuthSnapshot>,
    /// What is true of the provider of the first candidate, when that is skipped.
    pub(crate) truth: Option<ActualState>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Failed,
    Probed,
    Skipped,
    Succeeded,
}

/// What is really the case with a provider.
#[derive(Debug, Clone)]
pub(crate) struct ActualState {
    /// Since when nothing is wrong with it; none while something is.
    pub(crate) well_since: Option<i64>,
    /// When the agent's last call of it ended without an answer.
    pub(crate) last_unanswered: i64,
    /// The agent's last probe of it, and whether one is in flight.
    pub(crate) last_probe: Option<LastProbe>,
    pub(crate) probe_in_flight: bool,
    /// When a process last died while it probed.
    pub(crate) last_crash: i64,
    pub(crate) models: usize,
}

/// The last probe of a provider, whichever run made it.
#[derive(Debug, Clone)]
pub(crate) struct LastProbe {
    pub(crate) began: i64,
    pub(crate) profile: Option<String>,
}

/// A session that is on an automatic override.
#[derive(Debug, Clone)]
pub(crate) struct OnOverride {
    /// The configured primary.
    pub(crate) primary: String,
    /// When the session's turns last asked it.
    pub(crate) last_asked: i64,
    /// Whether a turn of this kind may ask it.
    pub(crate) may_ask: bool,
}

/// What a session held before and after two turns that overlapped.
#[derive(Debug, Clone)]
pub(crate) struct Overlap {
    pub(crate) before: Choice,
    pub(crate) after: Choice,
    /// The models that one of them may have written.
    pub(crate) written: Vec<String>,
}

/// The model that a session is on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) model: Option<String>,
    pub(crate) source: Option<String>,
    /// Where an automatic choice came from.
    pub(crate) origin: Option<String>,
}

/// What a person chose for a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Pins {
    pub(crate) model: Option<String>,
    pub(crate) profile: Option<String>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Aborted,
    Answered {
        candidate: usize,
    },
    /// Its process died.
    Crashed,
    /// Its caller dropped it.
    Dropped,
    Exhausted,
    Failed,
    Limited,
    Preserved,
    Surfaced,
}

impl Trace {
    /// The decisions, in order.
    pub(crate) fn decisions(&self) -> impl Iterator<Item = &DecisionEvent> {
        self.events.iter().filter_map(|event| match event {
            Event::DecisionEvent(decided) => Some(decided),
            Event::Again
            | Event::Called(_)
            | Event::Ended(_)
            | Event::Leased(..)
            | Event::Lost(_)
            | Event::Redirected
            | Event::Rotated
            | Event::Wrote(..) => None,
        })
    }

    /// Whether a write of this store went wrong.
    pub(crate) fn lost(&self, file: File) -> bool {
        self.events
            .iter()
            .any(|event| matches!(event, Event::Lost(of) if *of == file))
    }

    /// How often a credential was asked once more.
    pub(crate) fn repetitions(&self) -> usize {
        self.events
            .iter()
            .filter(|event| matches!(event, Event::Again))
            .count()
    }

    pub(crate) fn is_redirected(&self) -> bool {
        self.events.iter().any(|event| matches!(event, Event::Redirected))
    }

    /// Whether the run came to an end of its own.
    pub(crate) fn is_whole(&self) -> bool {
        !matches!(self.ending, Ending::Crashed | Ending::Dropped)
    }

    /// The credentials of a candidate: the person's alone where it counts.
    pub(crate) fn credentials(&self, candidate: usize) -> Vec<&str> {
        let Candidate {
            provider, profiles, ..
        } = &self.chain[candidate];
        match &self.pinned {
            Some(pin) if pin.starts_with(&format!("{provider}:")) => vec![pin],
            _ => profiles.iter().map(String::as_str).collect(),
        }
    }
}
