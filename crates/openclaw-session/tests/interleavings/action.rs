//! What can happen to a session, one step at a time.

/// One step of a person, a run or the host; indices point into [`MODELS`](crate::world::MODELS) and
/// [`PROFILES`](crate::world::PROFILES).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// The person picks a model, perhaps with a profile.
    Choose {
        model: usize,
        profile: Option<usize>,
    },
    /// The person goes back to the default.
    ChooseDefault,
    /// The person goes back to the default model and picks a profile for it.
    ChooseProfile {
        profile: usize,
    },
    /// The person clears the model and keeps the profile.
    KeepProfile,
    /// The person's client reads the session to change it later.
    ReadToChange,
    /// The person's client commits a choice that it worked out on what it read.
    Commit {
        model: usize,
        profile: Option<usize>,
    },
    /// The person starts over, or a call does; the runs are not notified.
    Reset {
        by_call: bool,
    },
    /// The host compacts the transcript, perhaps into another one, and tells the runs.
    Compact {
        moves: bool,
    },
    /// A run reads the session.
    Start {
        run: usize,
    },
    /// It writes the candidate that it is about to attempt.
    Attempt {
        run: usize,
        candidate: usize,
        profile: Option<usize>,
    },
    /// Its attempt fails, or it is dropped.
    Fail {
        run: usize,
    },
    /// Its attempt answers.
    Succeed {
        run: usize,
    },
    /// It looks whether the person marked a switch.
    CheckSwitchMark {
        model: usize,
    },
    /// It takes its profile for the turn.
    Pin {
        resting: usize,
        first_turn: bool,
    },
    /// It leaves a trace and tells the person what answered.
    FinishTurn {
        selected: usize,
        active: usize,
    },
    /// A probe of a primary is planned, starts, answers, fails.
    PlanProbe {
        primary: usize,
    },
    StartProbe,
    ProbeAnswers,
    ProbeFails {
        winner: usize,
    },
    /// A heartbeat looks for a stale override.
    Heartbeat {
        primary: usize,
    },
}

impl Action {
    /// Whether the person does this, and not the system.
    pub(crate) fn is_a_choice(self) -> bool {
        match self {
            Self::Choose { .. }
            | Self::ChooseDefault
            | Self::ChooseProfile { .. }
            | Self::KeepProfile
            | Self::Commit { .. } => true,
            Self::ReadToChange
            | Self::Reset { .. }
            | Self::Compact { .. }
            | Self::Start { .. }
            | Self::Attempt { .. }
            | Self::Fail { .. }
            | Self::Succeed { .. }
            | Self::CheckSwitchMark { .. }
            | Self::Pin { .. }
            | Self::FinishTurn { .. }
            | Self::PlanProbe { .. }
            | Self::StartProbe
            | Self::ProbeAnswers
            | Self::ProbeFails { .. }
            | Self::Heartbeat { .. } => false,
        }
    }
}
