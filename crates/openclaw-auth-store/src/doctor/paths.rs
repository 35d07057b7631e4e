//! The folders to examine, and their content.

use std::path::{Path, PathBuf};

use openclaw_ids::AgentId;
use serde_json::Value;

use crate::import::{LegacyFolder, read_text};
use crate::{AuthSnapshot, LegacyFile, LegacyProfiles, LegacyTexts, SqliteAuthStore};

use super::finding::DoctorFinding;
use super::plan::DoctorError;
use super::{CodexRenames, codex_renames};

/// One agent and its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFolder {
    /// The agent.
    pub agent: AgentId,
    /// The folder of its store and its older files.
    pub dir: PathBuf,
}

/// The folders that are examined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoctorPaths {
    /// The main agent: what the others inherit from (L13).
    pub main: AgentFolder,
    /// The agent whose store takes the secrets of the configuration (9.4); usually the main agent.
    pub default_agent: AgentId,
    /// All other agents.
    pub agents: Vec<AgentFolder>,
}

impl DoctorPaths {
    /// Every folder once, the main agent's first (9.2).
    pub(super) fn all(&self) -> Vec<&AgentFolder> {
        let mut places = vec![&self.main];
        for place in &self.agents {
            if !places.iter().any(|known| known.dir == place.dir) {
                places.push(place);
            }
        }
        places
    }
}

/// The content of a folder before the repair.
pub(super) struct FolderState<'p> {
    pub(super) place: &'p AgentFolder,
    /// The store, or why nothing can be done in this folder.
    pub(super) store: Result<AuthSnapshot, DoctorFinding>,
    texts: [Option<String>; 3],
    /// `auth-profiles.json` and `auth-state.json` where they are JSON, repaired step by step.
    pub(super) profiles: Option<Value>,
    pub(super) state: Option<Value>,
}

impl<'p> FolderState<'p> {
    pub(super) fn read(place: &'p AgentFolder) -> Result<Self, DoctorError> {
        let agent = || place.agent.clone();
        if let Some(path) = file_in_the_way(&place.dir) {
            let path = path.to_owned();
            return Ok(Self {
                place,
                store: Err(DoctorFinding::NotAFolder { agent: agent(), path }),
                texts: [None, None, None],
                profiles: None,
                state: None,
            });
        }
        let text = |file: LegacyFile| read_text(&place.dir.join(file.name()));
        let texts = [
            text(LegacyFile::Profiles)?,
            text(LegacyFile::State)?,
            text(LegacyFile::Auth)?,
        ];
        let document = |text: &Option<String>| serde_json::from_str(text.as_deref()?).ok();
        let (profiles, state) = (document(&texts[0]), document(&texts[1]));
        Ok(Self {
            place,
            store: SqliteAuthStore::read_snapshot(&place.dir, Vec::new()).map_err(|error| {
                DoctorFinding::Unusable {
                    agent: agent(),
                    error,
                }
            }),
            texts,
            profiles,
            state,
        })
    }

    pub(super) fn path(&self, file: LegacyFile) -> PathBuf {
        self.place.dir.join(file.name())
    }

    /// The content of the files after the repairs so far.
    pub(super) fn legacy(&self) -> LegacyProfiles {
        let [profiles, state, auth] = &self.texts;
        let repaired = |text: &Option<String>, document: &Option<Value>| match document {
            Some(document) => Some(document.to_string()),
            None => text.clone(),
        };
        let (profiles, state) = (repaired(profiles, &self.profiles), repaired(state, &self.state));
        LegacyProfiles::read(LegacyTexts {
            profiles: profiles.as_deref(),
            state: state.as_deref(),
            auth: auth.as_deref(),
        })
    }

    pub(super) fn folder(&self) -> LegacyFolder {
        LegacyFolder::new(&self.place.dir)
    }
}

/// The first of `folder` and those above it that is not a folder.
fn file_in_the_way(folder: &Path) -> Option<&Path> {
    let there = folder.ancestors().find(|path| path.exists())?;
    (!there.is_dir()).then_some(there)
}

/// The new ids of all folders and of the configuration together (9.6).
pub(super) fn renames(examined: &[FolderState<'_>], config: &Value) -> CodexRenames {
    let documents: Vec<Value> = examined
        .iter()
        .filter_map(|folder| folder.profiles.clone())
        .collect();
    codex_renames(&documents, config)
}
