//! The repairs of all folders: found without a change, then carried out (auth-store.md 9.2 to 9.8).

use std::fmt;
use std::path::PathBuf;

use jiff::Timestamp;
use openclaw_cooldown::CooldownConfig;
use openclaw_ids::ProfileId;
use serde_json::Value;

use super::finding::DoctorFinding;
use super::paths::{AgentFolder, DoctorPaths, FolderState, renames};
use super::{CodexRenames, move_aws_markers, repair_file, stale_copies, take_config_credentials};
use crate::{
    AuthSnapshot, ImportError, ImportReport, LegacyFile, LegacyFolder, LegacyProfiles, OpenError,
    ProfileStore, SqliteAuthStore, StoreError,
};

const CODEX_SUFFIX: &str = "openai-provider-unification";
const MARKER_SUFFIX: &str = "aws-sdk-profile";

/// Why a folder could not be examined or repaired; earlier repairs stay, and repeating is safe.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum DoctorError {
    /// An older file could not be read, copied or replaced.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A store could not be opened for the repair.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A store could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Everything to repair; making the plan changes nothing, so that it is the dry run.
///
/// ```no_run
/// # async fn repair(places: &openclaw_auth_store::DoctorPaths, config: serde_json::Value, now: jiff::Timestamp)
/// #     -> Result<(), openclaw_auth_store::DoctorError> {
/// use openclaw_auth_store::DoctorPlan;
///
/// let plan = DoctorPlan::examine(places, &config, now)?;
/// for finding in plan.findings() {
///     println!("{finding}");
/// }
/// let done = plan.carry_out(&Default::default(), now).await?;
/// if let Some(repaired) = plan.repaired_config() {
///     // Written last: until then, doing all of it again finds the same secrets.
///     println!("{repaired}");
/// }
/// # drop(done);
/// # Ok(())
/// # }
/// ```
pub struct DoctorPlan {
    findings: Vec<DoctorFinding>,
    config: Value,
    config_changed: bool,
    renames: CodexRenames,
    folders: Vec<FolderPlan>,
}

/// The repairs of one folder.
struct FolderPlan {
    place: AgentFolder,
    stale_copies: Vec<ProfileId>,
    imports: bool,
    from_config: LegacyProfiles,
}

/// The result of a repair.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DoctorOutcome {
    /// Copies of the files that were changed or removed, readable by their owner alone (G32).
    pub backups: Vec<PathBuf>,
    /// The import of each folder's older files.
    pub imports: Vec<(AgentFolder, ImportReport)>,
}

impl DoctorPlan {
    /// Examines all folders and the configuration; changes nothing.
    ///
    /// # Errors
    /// [`DoctorError::Import`] when an older file is there and cannot be read. A path that is not a folder, or a store
    /// that cannot be read, is a finding.
    pub fn examine(places: &DoctorPaths, config: &Value, now: Timestamp) -> Result<Self, DoctorError> {
        let all = places.all();
        let mut examined = all
            .iter()
            .map(|place| FolderState::read(place))
            .collect::<Result<Vec<_>, _>>()?;
        let mut plan = Self {
            findings: Vec::new(),
            config: config.clone(),
            config_changed: false,
            renames: renames(&examined, config),
            folders: Vec::new(),
        };
        plan.rename(&mut examined);
        plan.move_markers(&mut examined);
        let main = examined
            .first()
            .and_then(|main| main.store.as_ref().ok())
            .cloned();
        let taker = |place: &AgentFolder| place.agent == places.default_agent;
        let taker = all.iter().position(|place| taker(place)).unwrap_or_default();
        // Without a store for them the secrets stay where they are.
        let from_config = match examined.get(taker) {
            Some(FolderState { store: Ok(_), .. }) => plan.take_credentials(),
            Some(_) | None => LegacyProfiles::default(),
        };
        for (index, folder) in examined.iter().enumerate() {
            let from_config = if index == taker {
                from_config.clone()
            } else {
                LegacyProfiles::default()
            };
            plan.add_folder(folder, main.as_ref().filter(|_| index > 0), from_config, now);
        }
        plan.config_changed = plan.config != *config;
        Ok(plan)
    }

    /// The findings, in the order of their repair.
    pub fn findings(&self) -> &[DoctorFinding] {
        &self.findings
    }

    /// Whether [`carry_out`](Self::carry_out) or writing the configuration would change anything.
    pub fn repairs_anything(&self) -> bool {
        self.config_changed || self.findings.iter().any(DoctorFinding::is_repaired)
    }

    /// The configuration as it should be; `None` when it is so already. Write it after the rest was carried out.
    pub fn repaired_config(&self) -> Option<&Value> {
        self.config_changed.then_some(&self.config)
    }

    /// Repairs everything but the configuration. Each changed file is copied first (G30, G32), and doing it twice is
    /// safe (G33).
    ///
    /// # Errors
    /// A [`DoctorError`] for the first thing that cannot be done.
    pub async fn carry_out(
        &self,
        cooldowns: &CooldownConfig,
        now: Timestamp,
    ) -> Result<DoctorOutcome, DoctorError> {
        let mut outcome = DoctorOutcome::default();
        for folder in &self.folders {
            for file in [LegacyFile::Profiles, LegacyFile::State] {
                let path = folder.place.dir.join(file.name());
                let renamed = repair_file(&path, CODEX_SUFFIX, now, |document| {
                    self.renames.apply_to_document(document)
                })?;
                outcome.backups.extend(renamed);
            }
            let path = folder.place.dir.join(LegacyFile::Profiles.name());
            let moved = repair_file(&path, MARKER_SUFFIX, now, |document| {
                !move_aws_markers(document, &mut Value::Null).is_empty()
            })?;
            outcome.backups.extend(moved);
        }
        for folder in self.folders.iter().filter(|folder| folder.needs_store()) {
            let AgentFolder { agent, dir } = &folder.place;
            let store = SqliteAuthStore::open(dir, agent, Vec::new(), cooldowns.clone(), now)?;
            for id in &folder.stale_copies {
                store.remove(id.clone(), now).await?;
            }
            let report = LegacyFolder::new(dir).import_into(&store, now).await?;
            outcome.backups.extend(report.backups.iter().cloned());
            outcome.imports.push((folder.place.clone(), report));
            if !folder.from_config.is_empty() {
                store.import(folder.from_config.clone(), now).await?;
            }
        }
        Ok(outcome)
    }

    fn rename(&mut self, examined: &mut [FolderState<'_>]) {
        for (from, to) in self.renames.pairs() {
            self.findings.push(DoctorFinding::CodexProfile {
                from: from.to_owned(),
                to: to.to_owned(),
            });
        }
        self.renames.apply_to_config(&mut self.config);
        for folder in examined {
            for document in [&mut folder.profiles, &mut folder.state].into_iter().flatten() {
                self.renames.apply_to_document(document);
            }
        }
    }

    fn move_markers(&mut self, examined: &mut [FolderState<'_>]) {
        for folder in examined {
            let path = folder.path(LegacyFile::Profiles);
            let Some(document) = &mut folder.profiles else {
                continue;
            };
            for profile in move_aws_markers(document, &mut self.config) {
                self.findings.push(DoctorFinding::AwsMarker {
                    path: path.clone(),
                    profile,
                });
            }
        }
    }

    fn take_credentials(&mut self) -> LegacyProfiles {
        let taken = take_config_credentials(&mut self.config);
        for profile in taken.profiles().keys() {
            self.findings.push(DoctorFinding::ConfigSecret {
                profile: profile.clone(),
            });
        }
        taken
    }

    fn add_folder(
        &mut self,
        folder: &FolderState<'_>,
        main: Option<&AuthSnapshot>,
        from_config: LegacyProfiles,
        now: Timestamp,
    ) {
        let agent = &folder.place.agent;
        let store = match &folder.store {
            Ok(store) => store,
            Err(why) => {
                self.findings.push(why.clone());
                return;
            }
        };
        let stale_copies = main
            .map(|main| stale_copies(main, store, now))
            .unwrap_or_default();
        for profile in &stale_copies {
            self.findings.push(DoctorFinding::StaleShadow {
                agent: agent.clone(),
                profile: profile.clone(),
            });
        }
        let legacy = folder.legacy();
        let known = |id: &ProfileId| store.profiles.contains_key(id) || store.is_rejected(id);
        let new = legacy.profiles().keys().filter(|id| !known(id));
        let imports = folder.folder().has_files() && !legacy.is_empty();
        if imports {
            self.findings.push(DoctorFinding::OlderFiles {
                agent: agent.clone(),
                profiles: new.cloned().collect(),
            });
        }
        for file in legacy.unreadable() {
            self.findings.push(DoctorFinding::Unreadable {
                path: folder.path(*file),
            });
        }
        for profile in legacy.held_back() {
            self.findings.push(DoctorFinding::HeldBack {
                path: folder.path(LegacyFile::Profiles),
                profile: profile.clone(),
            });
        }
        let inherited = |id: &ProfileId| main.is_some_and(|main| main.profiles.contains_key(id));
        for (provider, ids) in &store.order {
            for profile in ids
                .iter()
                .filter(|id| !store.profiles.contains_key(*id) && !inherited(id))
            {
                self.findings.push(DoctorFinding::UnknownInOrder {
                    agent: agent.clone(),
                    provider: provider.clone(),
                    profile: profile.clone(),
                });
            }
        }
        for (key, rejection) in &store.rejected {
            self.findings.push(DoctorFinding::Rejected {
                agent: agent.clone(),
                key: key.clone(),
                rejection: *rejection,
            });
        }
        self.folders.push(FolderPlan {
            place: folder.place.clone(),
            stale_copies,
            imports,
            from_config,
        });
    }
}

/// The configuration may hold secrets elsewhere, so only the findings are shown.
impl fmt::Debug for DoctorPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut plan = f.debug_struct("DoctorPlan");
        plan.field("findings", &self.findings).finish_non_exhaustive()
    }
}

impl FolderPlan {
    /// A store is opened or created only where there is something to do in it.
    fn needs_store(&self) -> bool {
        self.imports || !self.stale_copies.is_empty() || !self.from_config.is_empty()
    }
}

#[cfg(test)]
mod tests;
