//! Who chose the model of a run: what is known beforehand and what follows from it (S-2.1).

use openclaw_ids::{AgentId, ModelRef};

/// The model a run asks for, as the caller wrote it; a blank half comes from the configured primary (C2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requested {
    /// The provider.
    pub provider: String,
    /// The model, without the provider.
    pub model: String,
}

impl From<&ModelRef> for Requested {
    fn from(model: &ModelRef) -> Self {
        Self {
            provider: model.provider().to_string(),
            model: model.model().to_string(),
        }
    }
}

/// What is known about a run before its model is chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectionFacts<'a> {
    /// The agent that runs.
    pub agent: &'a AgentId,
    /// What kind of run it is.
    pub run: RunKind,
    /// The session's override, already normalised (S-1.3, S-1.4).
    pub stored: StoredOverride,
    /// Whose override that is.
    pub owner: OverrideOwner,
    /// A model configured for the channel the turn came from, as written (row J).
    pub channel_model: Option<String>,
}

impl<'a> SelectionFacts<'a> {
    /// A run of `agent` without any override.
    pub fn new(agent: &'a AgentId, run: RunKind) -> Self {
        Self {
            agent,
            run,
            stored: StoredOverride::None,
            owner: OverrideOwner::Session,
            channel_model: None,
        }
    }

    /// Sets the session's own override.
    #[must_use]
    pub fn with_stored(mut self, stored: StoredOverride) -> Self {
        self.stored = stored;
        self.owner = OverrideOwner::Session;
        self
    }

    /// Sets an override taken over from the parent session (S-1.4c, A5).
    #[must_use]
    pub fn with_inherited(mut self, stored: StoredOverride) -> Self {
        self.stored = stored;
        self.owner = OverrideOwner::Parent;
        self
    }

    /// Sets the model of the channel.
    #[must_use]
    pub fn with_channel_model(mut self, model: &str) -> Self {
        self.channel_model = Some(model.to_owned());
        self
    }
}

/// The kinds of run that choose a model differently. Texts are model references as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunKind {
    /// A scheduled job (rows G1 to G3).
    Cron(CronPayload),
    /// A heartbeat turn; `model` is the explicit model of this run, if any (rows H1 and H2).
    Heartbeat {
        /// Wins over `agents.defaults.heartbeat.model`.
        model: Option<String>,
    },
    /// A memory flush with a model of its own (row M).
    MemoryFlush {
        /// The configured model.
        model: String,
    },
    /// A model given for this run alone, by an authorised caller (row I).
    OneOff {
        /// The model.
        model: ModelRef,
        /// Whether it may fall back.
        policy: OneOffPolicy,
    },
    /// A run of a sub-agent session (row L).
    Subagent,
    /// An ordinary turn.
    Turn,
}

/// What a scheduled job says about its model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CronPayload {
    /// `payload.model`
    pub model: Option<String>,
    /// `payload.fallbacks`; an empty list is strict.
    pub fallbacks: Option<Vec<String>>,
    /// The model of the mail hook that started the job.
    pub hook_model: Option<String>,
    /// Which configured model a job without one uses.
    pub basis: CronBasis,
}

/// Which configured model a job without one of its own uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CronBasis {
    /// The agent's.
    #[default]
    Agent,
    /// The sub-agents'.
    Subagent,
}

/// Whether a one-off model may fall back (A9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OneOffPolicy {
    /// The agent's configured chain, started at this model.
    Chain,
    /// [`Chain`](Self::Chain) when the model belongs to the agent's configured chain, else
    /// [`Strict`](Self::Strict).
    ChainWhenConfigured,
    /// This model and no other.
    Strict,
}

/// The override a session holds, by who wrote it (S-1.3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StoredOverride {
    /// Written by a fallback, with its origin.
    Auto(ModelRef),
    /// Written before sources were recorded; counts as a person's (B5).
    Legacy(ModelRef),
    /// Written by a fallback, without an origin; ignored and to be removed (S-2.2d).
    LegacyAuto,
    /// There is none.
    #[default]
    None,
    /// Written by a person.
    User(ModelRef),
}

/// Whose override it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OverrideOwner {
    /// The parent session's (row K).
    Parent,
    /// The session's own.
    #[default]
    Session,
}

/// The outcome: what to ask for and what may follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The first candidate.
    pub requested: Requested,
    /// The list to pass to [`Resolver::chain`](crate::Resolver::chain); `None` means the configured fallbacks
    /// and then the configured primary.
    pub fallbacks: Option<Vec<String>>,
    /// What follows that list: the configured primary, where a fallback wrote the override that is used (F-4).
    pub last: Option<ModelRef>,
    /// Whether policy leaves no other candidate (S-2.1a).
    pub strict: bool,
    /// Who chose.
    pub source: SelectionSource,
    /// The model the session would use without any override (S-2.3).
    pub primary: ModelRef,
    /// Why the override was not used. One of the session's own should then be removed from the session; one of
    /// the parent's is the parent's affair.
    pub ignored: Option<IgnoredOverride>,
    /// Why, one sentence per step, for people.
    pub trace: Vec<String>,
}

/// Why a stored override was not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IgnoredOverride {
    /// Its model is not in the allowlist (S-2.1d).
    Disallowed,
    /// It was written by a fallback and has no origin (S-2.2d).
    LegacyAuto,
}

/// Who chose the model: the rows of S-2.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SelectionSource {
    /// Row A.
    ConfiguredDefault,
    /// Row B: the agent names a primary and no fallbacks.
    AgentPrimary,
    /// Row C: the agent has fallbacks of its own.
    AgentChain,
    /// Row D.
    AutoOverride,
    /// Row E.
    UserOverride,
    /// Row F.
    LegacyOverride,
    /// Row G1: the job lists fallbacks.
    CronFallbacks,
    /// Row G2: the job names a model.
    CronModel,
    /// Row G3: the job says nothing.
    Cron,
    /// Row H1.
    HeartbeatModel,
    /// Row I.
    OneOff,
    /// Row J.
    ChannelModel,
    /// Row K.
    InheritedOverride,
    /// Row L.
    Subagent,
    /// Row M.
    MemoryFlush,
}

impl SelectionSource {
    /// The row of S-2.1 and its name for people.
    pub fn row(self) -> (&'static str, &'static str) {
        match self {
            Self::ConfiguredDefault => ("A", "configured default"),
            Self::AgentPrimary => ("B", "agent primary without fallbacks"),
            Self::AgentChain => ("C", "agent with its own fallbacks"),
            Self::AutoOverride => ("D", "automatic override"),
            Self::UserOverride => ("E", "user override"),
            Self::LegacyOverride => ("F", "override without a recorded source"),
            Self::CronFallbacks => ("G1", "cron job with fallbacks"),
            Self::CronModel => ("G2", "cron job with a model"),
            Self::Cron => ("G3", "cron job"),
            Self::HeartbeatModel => ("H1", "heartbeat model"),
            Self::OneOff => ("I", "model of this run alone"),
            Self::ChannelModel => ("J", "channel model"),
            Self::InheritedOverride => ("K", "override of the parent session"),
            Self::Subagent => ("L", "sub-agent model"),
            Self::MemoryFlush => ("M", "memory-flush model"),
        }
    }
}

impl std::fmt::Display for SelectionSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (row, name) = self.row();
        write!(f, "{name} ({row})")
    }
}
