//! What the doctor found and did.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use jiff::Timestamp;
use openclaw_auth_store::{DoctorFinding, DoctorOutcome, DoctorPaths, DoctorPlan, Health};
use openclaw_classify::error_chain;
use openclaw_config::{SESSIONS_FILE, SESSIONS_JSON, permission_audit};
use openclaw_gateway::report::disk;
use openclaw_gateway::report::legacy_credentials::a_few;
use openclaw_gateway::report::{ProfileReport, ProfilesReport};
use openclaw_history::{HistoryReader, history_path};
use openclaw_session::SqliteSessionStore;
use serde::Serialize;

use super::config_file::SecretForm;
use super::shown;
use crate::files::{Files, ReadAgent, SessionsJsonError, read_sessions_json};
use crate::terminal::{Render, Screen, Style};

/// Everything that was found, and what became of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DoctorReport {
    findings: Vec<Remark>,
    /// What was repaired; none without --fix, and when there was nothing to repair.
    pub(super) repaired: Option<RepairReport>,
}

/// One thing that is not as it should be.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Remark {
    /// `credentials`, `disk`, `health`, `history`, `permissions` or `sessions`.
    area: &'static str,
    /// What to do about it.
    what: String,
    /// Whether --fix does it.
    by_fix: bool,
}

/// What was done.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RepairReport {
    /// Copies of what was changed or removed.
    pub(super) backups: Vec<String>,
    /// Profiles that the stores did not have before.
    added: Vec<String>,
    /// Older files that were left, because they cannot be read.
    left: Vec<String>,
    /// How the configuration was written.
    pub(super) config: Option<SecretForm>,
}

impl RepairReport {
    pub(super) fn of(done: &DoctorOutcome) -> Self {
        let reports = done.imports.iter().map(|(_, report)| report);
        Self {
            backups: shown(&done.backups),
            added: reports
                .clone()
                .flat_map(|report| &report.added)
                .map(ToString::to_string)
                .collect(),
            left: reports.flat_map(|report| shown(&report.left)).collect(),
            config: None,
        }
    }
}

impl DoctorReport {
    /// What is wrong before anything is done.
    pub(super) fn of(
        files: &Files,
        places: &DoctorPaths,
        plan: &DoctorPlan,
        imports: &[BrokenImport],
        now: Timestamp,
    ) -> Self {
        let mut findings: Vec<Remark> = plan.findings().iter().map(of_credentials).collect();
        findings.extend(imports.iter().map(BrokenImport::found));
        findings.extend(of_sessions(files, places));
        findings.extend(of_disk(files));
        findings.extend(of_health(files, now));
        findings.extend(of_permissions(files));
        if let Err(error) = HistoryReader::open(&files.state_dir) {
            findings.push(Remark {
                area: "history",
                what: error_chain::line(&error),
                by_fix: false,
            });
        }
        Self {
            findings,
            repaired: None,
        }
    }

    /// Whether the operator still has to do something.
    pub(super) fn leaves_anything(&self) -> bool {
        let is_beside = |repaired: &RepairReport| matches!(repaired.config, Some(SecretForm::Beside { .. }));
        match &self.repaired {
            None => !self.findings.is_empty(),
            Some(repaired) => is_beside(repaired) || self.findings.iter().any(|found| !found.by_fix),
        }
    }
}

impl Render for DoctorReport {
    fn text(&self, screen: &mut Screen<'_>) -> io::Result<()> {
        if self.findings.is_empty() {
            return screen.toned(Style::Good, "Nothing is out of order.");
        }
        let (by_fix, by_hand): (Vec<&Remark>, Vec<&Remark>) =
            self.findings.iter().partition(|found| found.by_fix);
        let heading = match self.repaired {
            Some(_) => "Repaired",
            None => "doctor --fix would",
        };
        list(heading, Style::Good, &by_fix, screen)?;
        if let Some(repaired) = &self.repaired {
            repaired.show(screen)?;
        }
        if !by_fix.is_empty() && !by_hand.is_empty() {
            screen.line("")?;
        }
        list("Left for you", Style::Warn, &by_hand, screen)
    }

    fn json(&self) -> impl Serialize {
        self
    }
}

fn list(heading: &str, tone: Style, found: &[&Remark], screen: &mut Screen<'_>) -> io::Result<()> {
    if found.is_empty() {
        return Ok(());
    }
    screen.toned(tone, heading)?;
    found
        .iter()
        .try_for_each(|found| screen.line(format!("  - {}", found.what)))
}

impl RepairReport {
    fn show(&self, screen: &mut Screen<'_>) -> io::Result<()> {
        if !self.added.is_empty() {
            screen.line(format!("  New in the stores: {}", a_few(&self.added)))?;
        }
        for backup in &self.backups {
            screen.line(format!("  Copy of what was there: {backup}"))?;
        }
        for left in &self.left {
            screen.line(format!("  Left as it is, because it cannot be read: {left}"))?;
        }
        match &self.config {
            Some(SecretForm::InPlace { backup }) => {
                screen.line(format!("  Copy of the configuration: {}", backup.display()))
            }
            Some(SecretForm::Beside { path }) => screen.line(format!(
                "  The configuration is JSON5, whose comments and order would be lost; put {} in its place by hand.",
                path.display()
            )),
            None => Ok(()),
        }
    }
}

fn of_credentials(finding: &DoctorFinding) -> Remark {
    Remark {
        area: "credentials",
        what: finding.to_string(),
        by_fix: finding.is_repaired(),
    }
}

/// Session files that cannot be used; a run without its session forgets the conversation's model.
fn of_sessions(files: &Files, places: &DoctorPaths) -> Vec<Remark> {
    let agents = std::iter::once(&places.main).chain(&places.agents);
    let mut seen = Vec::new();
    let mut findings = Vec::new();
    for place in agents {
        let path = files.sessions_folder(&place.agent).join(SESSIONS_FILE);
        if seen.contains(&path) {
            continue;
        }
        if let Err(error) = SqliteSessionStore::snapshot(&path) {
            findings.push(Remark {
                area: "sessions",
                what: error_chain::line(&error),
                by_fix: false,
            });
        }
        seen.push(path);
    }
    findings
}

/// Session files of the other program that would be taken over, and cannot be: `serve` does not start with one.
pub(super) fn broken_imports(files: &Files, places: &DoctorPaths) -> Vec<BrokenImport> {
    let agents = std::iter::once(&places.main).chain(&places.agents);
    let folders: BTreeSet<PathBuf> = agents.map(|place| files.sessions_folder(&place.agent)).collect();
    folders
        .into_iter()
        .filter(|folder| {
            matches!(
                SqliteSessionStore::snapshot(&folder.join(SESSIONS_FILE)),
                Ok(None)
            )
        })
        .filter_map(|folder| {
            let path = folder.join(SESSIONS_JSON);
            // One that cannot be read may become readable; it is not moved.
            let (is_read, why) = match read_sessions_json(&path) {
                Ok(_) => return None,
                Err(SessionsJsonError::Damaged { source, .. }) => (true, source.to_string()),
                Err(SessionsJsonError::Unreadable { source, .. }) => (false, source.to_string()),
            };
            Some(BrokenImport { path, is_read, why })
        })
        .collect()
}

/// A `sessions.json` that cannot be taken over.
pub(super) struct BrokenImport {
    pub(super) path: PathBuf,
    /// Whether it can be read, and makes no sense.
    pub(super) is_read: bool,
    why: String,
}

impl BrokenImport {
    fn found(&self) -> Remark {
        let (path, why) = (self.path.display(), &self.why);
        Remark {
            area: "sessions",
            what: if self.is_read {
                format!(
                    "set {path} aside, which is no object of sessions ({why}); repair it instead to keep them"
                )
            } else {
                format!("make {path} readable ({why})")
            },
            by_fix: self.is_read,
        }
    }
}

/// A state directory that takes no changes: what is learned of limits is lost with the process.
fn of_disk(files: &Files) -> Option<Remark> {
    let trouble = disk::problem(&files.state_dir)?;
    Some(Remark {
        area: "disk",
        what: trouble.to_string(),
        by_fix: false,
    })
}

/// Files with secrets that others on this machine may read. An open folder alone shows nothing.
fn of_permissions(files: &Files) -> impl Iterator<Item = Remark> {
    let exposed = permission_audit(
        &files.config,
        &files.environment,
        &files.state_dir,
        &history_path(&files.state_dir),
    );
    let of_files = exposed.into_iter().filter(|exposed| !exposed.is_folder());
    of_files.map(|exposed| Remark {
        area: "permissions",
        what: exposed.to_string(),
        by_fix: false,
    })
}

/// Credentials that cannot be used as they are (auth-store.md 10). One that cannot be read is reported already.
fn of_health(files: &Files, now: Timestamp) -> Vec<Remark> {
    let mut findings = Vec::new();
    for agent in files.agents() {
        let Ok(read) = ReadAgent::open(files, &agent) else {
            continue;
        };
        let report = ProfilesReport::of(&files.installation(), &read.state(), now);
        let own = report.profiles.iter().filter(|profile| profile.owner == agent);
        findings.extend(own.filter_map(|profile| {
            Some(Remark {
                area: "health",
                what: complaint(profile)?,
                by_fix: false,
            })
        }));
    }
    findings
}

fn complaint(profile: &ProfileReport) -> Option<String> {
    let (id, owner) = (&profile.id, &profile.owner);
    if let Some(problem) = &profile.problem {
        return Some(format!("`{id}` of agent `{owner}` cannot be used: {problem}"));
    }
    match (profile.health, profile.eligibility) {
        (Health::Expired | Health::Expiring, _) if profile.renews => None,
        (Health::Expired, _) => Some(format!(
            "log in to `{id}` of agent `{owner}` again, because it has ended"
        )),
        (Health::Expiring, _) => Some(format!(
            "log in to `{id}` of agent `{owner}` again, because it ends within a day"
        )),
        (Health::Missing, why) => Some(format!(
            "replace `{id}` of agent `{owner}`, which cannot be used ({})",
            why.as_str()
        )),
        (Health::Ok | Health::Static, _) => None,
    }
}
