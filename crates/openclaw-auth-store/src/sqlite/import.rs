//! Imports the files of older versions into the store.

use jiff::Timestamp;
use openclaw_ids::ProfileId;

use super::SqliteAuthStore;
use crate::UsageStore;
use crate::import::{FILES, ImportError, ImportReport, LegacyFolder, set_aside};

impl LegacyFolder {
    /// Imports the files and, once the store has everything, copies them aside and removes them (G30).
    ///
    /// Existing entries of the store win. A file that cannot be read stays; when there is nothing to import, all do
    /// (G31). Importing again is safe (G33).
    ///
    /// # Errors
    /// An [`ImportError`]; the files were not removed, or each that was has its copy.
    pub async fn import_into(
        &self,
        store: &SqliteAuthStore,
        now: Timestamp,
    ) -> Result<ImportReport, ImportError> {
        let legacy = self.read()?;
        let mut report = ImportReport {
            left: legacy.unreadable().iter().map(|file| self.path(*file)).collect(),
            held_back: legacy.held_back().cloned().collect(),
            ..ImportReport::default()
        };
        if legacy.is_empty() {
            report.left = FILES
                .iter()
                .map(|file| self.path(*file))
                .filter(|path| path.exists())
                .collect();
            return Ok(report);
        }
        let before = store.snapshot();
        store.import(legacy.clone(), now).await?;
        let after = store.snapshot();
        let stored = |id: &ProfileId| after.profiles.contains_key(id) || after.is_rejected(id);
        if !legacy.profiles.keys().all(stored) {
            return Err(ImportError::NotStored);
        }
        let new = legacy
            .profiles
            .keys()
            .filter(|id| !before.profiles.contains_key(*id));
        report.added = new.cloned().collect();
        for file in FILES {
            let path = self.path(*file);
            if path.exists() && !legacy.unreadable().contains(file) {
                report.backups.push(set_aside(&path, now)?);
            }
        }
        if !legacy.held_back.is_empty() {
            self.write_held_back(&legacy)?;
        }
        Ok(report)
    }
}
