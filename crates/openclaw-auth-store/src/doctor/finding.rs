//! One finding of the doctor, in words for the operator.

use std::path::PathBuf;

use openclaw_ids::{AgentId, ProfileId, ProviderId};

use crate::{OpenError, Rejection};

/// A finding; its text says what to do about it. It names profiles and holds no secret.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum DoctorFinding {
    /// An entry that stands for the AWS credential chain (9.5).
    #[error("move `{profile}` from `{path}` to `auth.profiles` of the configuration, because it holds no secret", path = path.display())]
    AwsMarker {
        /// The file.
        path: PathBuf,
        /// The entry.
        profile: String,
    },
    /// A profile of the older provider name (9.6).
    #[error("rename profile `{from}` to `{to}`, because `openai-codex` is `openai` now")]
    CodexProfile {
        /// Its id.
        from: String,
        /// The new one; the same for all agents.
        to: String,
    },
    /// The configuration holds a secret (G25).
    #[error("move the secret of `{profile}` from the configuration into the store")]
    ConfigSecret {
        /// The profile.
        profile: ProfileId,
    },
    /// A login whose tokens are in a further file (G34, 9.7); it stays where it is.
    #[error("log in to `{profile}` again, because its tokens are not in `{path}` but in an encrypted file beside it", path = path.display())]
    HeldBack {
        /// The file.
        path: PathBuf,
        /// The profile.
        profile: String,
    },
    /// A file that is where the folder of an agent, or one above it, should be; nothing is done for this agent.
    #[error("move `{path}` away, which is a file where the folder of agent `{agent}` belongs", path = path.display())]
    NotAFolder {
        /// The agent.
        agent: AgentId,
        /// The file.
        path: PathBuf,
    },
    /// Files of older versions (9.4).
    #[error("bring the older files of agent `{agent}` into its store, which lacks {new} of their profiles", new = profiles.len())]
    OlderFiles {
        /// The agent.
        agent: AgentId,
        /// Profiles that the store does not have.
        profiles: Vec<ProfileId>,
    },
    /// A stored entry that is no credential (J3); it is kept (D13).
    #[error("correct or remove entry `{key}` of agent `{agent}`, which is no credential ({reason})", reason = rejection.as_str())]
    Rejected {
        /// The agent.
        agent: AgentId,
        /// The entry.
        key: String,
        /// Why.
        rejection: Rejection,
    },
    /// A copy of a login that hides the main agent's fresher one (9.8).
    #[error("remove login `{profile}` of agent `{agent}`, because the main agent has a fresher one")]
    StaleShadow {
        /// The agent.
        agent: AgentId,
        /// The login.
        profile: ProfileId,
    },
    /// An order names what does not exist (BL-48); it is kept, since the profile may come back (M11).
    #[error("remove `{profile}` from the order of `{provider}` of agent `{agent}`, or add that profile")]
    UnknownInOrder {
        /// The agent.
        agent: AgentId,
        /// The provider.
        provider: ProviderId,
        /// The unknown id.
        profile: ProfileId,
    },
    /// A file that cannot be read (G31); it stays.
    #[error("repair or remove `{path}`, which is no JSON object", path = path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
    },
    /// A store that cannot be read; nothing is done for this agent.
    #[error("agent `{agent}` is left alone: {error}")]
    Unusable {
        /// The agent.
        agent: AgentId,
        /// Why.
        error: OpenError,
    },
}

impl DoctorFinding {
    /// Whether carrying out the plan repairs it; an operator has to repair the others.
    pub fn is_repaired(&self) -> bool {
        match self {
            Self::AwsMarker { .. }
            | Self::CodexProfile { .. }
            | Self::ConfigSecret { .. }
            | Self::OlderFiles { .. }
            | Self::StaleShadow { .. } => true,
            Self::HeldBack { .. }
            | Self::NotAFolder { .. }
            | Self::Rejected { .. }
            | Self::UnknownInOrder { .. }
            | Self::Unreadable { .. }
            | Self::Unusable { .. } => false,
        }
    }
}
