//! `doctor`: finds what older versions left behind and what is damaged, and repairs what can be repaired.

mod config_file;
mod report;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use jiff::Timestamp;
use openclaw_auth_store::{AgentFolder, DoctorPaths, DoctorPlan};
use openclaw_config::{Environment, agents_folder, default_credentials_folder};
use openclaw_ids::AgentId;

use crate::files::{CommonArgs, Files, absolute, runtime};
use crate::outcome::{CommandError, Outcome};
use crate::terminal::screen::{Screen, now};
use report::{DoctorReport, RepairReport};

/// Arguments of `doctor`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct DoctorArgs {
    /// Repair what can be repaired; every file that is changed or removed is copied first
    #[arg(long)]
    fix: bool,
    /// Say what --fix would do, and do nothing; the same as neither
    #[arg(long, conflicts_with = "fix")]
    dry_run: bool,
    #[command(flatten)]
    common: CommonArgs,
}

const EXAMPLES: &str = "\
Looked at are the credentials of all agents (also auth-profiles.json, auth-state.json and auth.json
of older versions), the secrets in the configuration, the session files, the history, the disk, and
the health of every credential.

Examples:
  openclaw-gateway doctor
  openclaw-gateway doctor --fix

Doing it again is safe. Exit status: 0 nothing is left to do, 1 something is, 2 it cannot look.";

/// Variables that name the folder of an agent (L14).
const FOLDER_VARIABLES: &[&str] = &["OPENCLAW_AGENT_DIR", "PI_CODING_AGENT_DIR"];

/// Looks, and repairs when that is asked for.
pub(super) fn run(
    environment: &Environment,
    arguments: &DoctorArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    let files = Files::open(&arguments.common.places, environment)?;
    let root = config_file::read(&files.config.path)?;
    let places = doctor_places(&files);
    let now = now();
    let plan = DoctorPlan::examine(&places, &root.value, now)?;
    let imports = report::broken_imports(&files, &places);
    let mut report = DoctorReport::of(&files, &places, &plan, &imports, now);
    if arguments.fix && (plan.repairs_anything() || imports.iter().any(|import| import.is_read)) {
        let mut repaired = repair(&files, &plan, &root, now)?;
        for import in imports.iter().filter(|import| import.is_read) {
            repaired
                .backups
                .push(set_aside(&import.path, now)?.display().to_string());
        }
        report.repaired = Some(repaired);
    }
    screen.render(&report, arguments.common.output)?;
    Ok(if report.leaves_anything() {
        Outcome::Findings
    } else {
        Outcome::Fine
    })
}

fn repair(
    files: &Files,
    plan: &DoctorPlan,
    root: &config_file::Root,
    now: Timestamp,
) -> Result<RepairReport, CommandError> {
    let cooldowns = &files.config.auth.cooldowns;
    let done = runtime()?.block_on(plan.carry_out(cooldowns, now))?;
    let mut repaired = RepairReport::of(&done);
    // Last: until it is written, doing all of it again finds the same secrets.
    if let Some(config) = plan.repaired_config() {
        repaired.config = Some(config_file::write(&files.config.path, root, config, now)?);
    }
    Ok(repaired)
}

/// A file could not be set aside.
#[derive(Debug, thiserror::Error)]
#[error("cannot rename {}; make its folder writable, and run doctor --fix again", path.display())]
struct AsideError {
    path: PathBuf,
    #[source]
    source: std::io::Error,
}

/// Renames a file to a name that no program reads, which is its backup.
fn set_aside(path: &Path, now: Timestamp) -> Result<PathBuf, AsideError> {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".doctor.{}.bak", now.as_millisecond()));
    let aside = PathBuf::from(name);
    match std::fs::rename(path, &aside) {
        Ok(()) => Ok(aside),
        Err(source) => Err(AsideError {
            path: path.to_owned(),
            source,
        }),
    }
}

/// Every folder that may hold credentials (9.2).
fn doctor_places(files: &Files) -> DoctorPaths {
    let main = AgentFolder {
        agent: AgentId::main(),
        dir: files.main_folder(),
    };
    let configured = files.agents().into_iter().map(|agent| AgentFolder {
        dir: files.credentials_folder(&agent),
        agent,
    });
    let named = FOLDER_VARIABLES.iter().filter_map(|name| {
        let dir = absolute(Path::new(files.environment.get(name)?), &files.environment);
        Some(AgentFolder {
            agent: agent_of(&dir)?,
            dir,
        })
    });
    let found = agents_with_folders(&files.state_dir)
        .into_iter()
        .map(|agent| AgentFolder {
            dir: default_credentials_folder(&files.state_dir, &agent),
            agent,
        });
    DoctorPaths {
        default_agent: files.config.chain.default_agent(),
        agents: configured.chain(named).chain(found).collect(),
        main,
    }
}

/// The agent whose folder this is, when its path says so.
fn agent_of(dir: &Path) -> Option<AgentId> {
    let is_usual = dir.file_name().is_some_and(|name| name == "agent");
    let parent = dir.parent().filter(|_| is_usual)?.file_name()?;
    Some(AgentId::new(parent.to_str()?))
}

/// The agents that have a folder in the state directory.
fn agents_with_folders(state_dir: &Path) -> BTreeSet<AgentId> {
    let entries = std::fs::read_dir(agents_folder(state_dir));
    let folders = entries.into_iter().flatten().filter_map(Result::ok);
    let folders = folders.filter(|entry| entry.path().join("agent").is_dir());
    folders
        .filter_map(|entry| Some(AgentId::new(entry.file_name().to_str()?)))
        .collect()
}

/// A path for people and for JSON.
fn shown(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.display().to_string()).collect()
}
