//! How a command ends: fine, with findings, or with the reason why it cannot run.

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Fine,
    Findings,
}

/// Why a command cannot run.
pub(crate) type CommandError = Box<dyn std::error::Error + Send + Sync>;
