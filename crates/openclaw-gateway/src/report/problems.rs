//! What is wrong with an agent now, and how bad that is (BL-83).

use std::cmp::Reverse;

use openclaw_auth_store::Eligibility;
use openclaw_classify::Reason;
use openclaw_ids::{ModelRef, ProfileId, ProviderId, SessionKey};
use serde::Serialize;

use crate::report::legacy_credentials::LegacyCredentials;

use super::chains::{CandidateReport, CandidateState, ChainReport};
use super::profiles::ProfilesReport;
use super::sessions::SessionsReport;

/// Something that is wrong now, and how bad that is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LevelledProblem {
    /// How bad it is.
    pub level: Level,
    /// What it is.
    #[serde(flatten)]
    pub trouble: Problem,
}

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// A fallback answers meanwhile, and it passes by itself.
    Degraded,
    /// It does not pass by itself, or nothing answers.
    Failing,
}

/// Something that is wrong now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind")]
pub enum Problem {
    /// No candidate of the agent's chain would be asked now.
    NothingCanAnswer {
        /// The provider of the first, when none of them has a credential at all.
        #[serde(skip_serializing_if = "Option::is_none")]
        without_credential: Option<ProviderId>,
    },
    /// The first model of the chain would not be asked now.
    PrimaryUnavailable {
        /// The model.
        model: ModelRef,
        /// What keeps it from being asked.
        state: CandidateState,
        /// Why it rests, where it does.
        reason: Option<Reason>,
    },
    /// A credential waits for a person: it was refused, or its bill is not paid.
    NeedsAPerson {
        /// The credential.
        profile: ProfileId,
        /// Why.
        reason: Reason,
    },
    /// A credential that is stored and cannot be used.
    Unusable {
        /// The credential.
        profile: ProfileId,
        /// The reason code.
        eligibility: Eligibility,
        /// What is the matter and what to do about it, where that is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        problem: Option<String>,
    },
    /// Credentials that are in files of older versions alone.
    OlderCredentials(LegacyCredentials),
    /// The sessions of the agent cannot be read.
    UnreadSessions {
        /// What is the matter and what to do about it.
        problem: String,
    },
    /// A session is answered by another model than the selected one.
    OnFallback {
        /// The session.
        session: SessionKey,
    },
}

impl Problem {
    /// The same, with how bad it is.
    pub(super) fn levelled(self) -> LevelledProblem {
        let level = match self {
            Self::NothingCanAnswer { .. }
            | Self::NeedsAPerson { .. }
            | Self::OlderCredentials(_)
            | Self::Unusable { .. }
            | Self::UnreadSessions { .. } => Level::Failing,
            Self::PrimaryUnavailable { .. } | Self::OnFallback { .. } => Level::Degraded,
        };
        LevelledProblem { level, trouble: self }
    }
}

/// What is wrong with an agent, the worst first.
pub(super) fn troubles(
    chain: &ChainReport,
    credentials: &ProfilesReport,
    on_fallback: &SessionsReport,
) -> Vec<LevelledProblem> {
    let mut troubles = Vec::new();
    if let Some(primary) = chain.candidates.first().filter(|first| !first.state.is_asked()) {
        troubles.push(if chain.first_asked().is_none() {
            Problem::NothingCanAnswer {
                without_credential: without_credential(chain),
            }
        } else {
            Problem::PrimaryUnavailable {
                model: primary.model.clone(),
                state: primary.state,
                reason: primary.reason,
            }
        });
    }
    // What is inherited is reported with the agent that owns it.
    let own = credentials
        .profiles
        .iter()
        .filter(|profile| profile.owner == credentials.agent);
    for profile in own {
        let windows = profile.windows.iter();
        let refused = windows
            .map(|window| window.reason)
            .find(|reason| needs_a_person(*reason));
        if let Some(reason) = refused {
            troubles.push(Problem::NeedsAPerson {
                profile: profile.id.clone(),
                reason,
            });
        } else if !profile.eligibility.is_ok() {
            troubles.push(Problem::Unusable {
                profile: profile.id.clone(),
                eligibility: profile.eligibility,
                problem: profile.problem.clone(),
            });
        }
    }
    let sessions = on_fallback.sessions.iter();
    troubles.extend(sessions.map(|session| Problem::OnFallback {
        session: session.key.clone(),
    }));
    let mut troubles: Vec<LevelledProblem> = troubles.into_iter().map(Problem::levelled).collect();
    troubles.sort_by_key(|trouble| Reverse(trouble.level));
    troubles
}

/// The provider to store a key for, when nothing else is the matter.
fn without_credential(chain: &ChainReport) -> Option<ProviderId> {
    let lacks = |candidate: &CandidateReport| candidate.state == CandidateState::NoCredential;
    let first = chain.candidates.first()?;
    chain
        .candidates
        .iter()
        .all(lacks)
        .then(|| first.model.provider().clone())
}

/// Whether time alone does not mend it.
pub fn needs_a_person(reason: Reason) -> bool {
    match reason {
        Reason::Auth | Reason::AuthPermanent | Reason::Billing => true,
        Reason::Aborted
        | Reason::ContentPolicy
        | Reason::ContextOverflow
        | Reason::EmptyResponse
        | Reason::Format
        | Reason::Local
        | Reason::ModelNotFound
        | Reason::NoErrorDetails
        | Reason::Overloaded
        | Reason::RateLimit
        | Reason::ServerError
        | Reason::SessionExpired
        | Reason::Timeout
        | Reason::Unclassified
        | Reason::Unknown => false,
    }
}
