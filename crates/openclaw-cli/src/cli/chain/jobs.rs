//! Scheduled jobs as the other program stores them, for the question which models one would use.

use std::path::{Path, PathBuf};

use openclaw_chain::CronPayload;
use openclaw_ids::AgentId;
use serde::Deserialize;
use serde_json::Value;

use crate::outcome::CommandError;

/// Where jobs are, in the state directory.
const FILE: &str = "cron/jobs.json";

/// What of a job decides about its models.
pub(super) struct Job {
    pub(super) agent: Option<AgentId>,
    pub(super) payload: CronPayload,
}

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    jobs: Vec<Value>,
}

/// A scheduled job cannot be found.
#[derive(Debug, thiserror::Error)]
enum JobError {
    #[error(
        "there is no {}, so no job can be found by its name; describe it instead: \
         `chain --cron --model <model> --fallback <model>`",
        path.display()
    )]
    NoFile { path: PathBuf },
    #[error("{} is no object with a list of `jobs`; name the models instead: `chain --cron --model <model>`", path.display())]
    Damaged {
        path: PathBuf,
        #[source]
        source: serde_json::Error,
    },
    #[error("cannot read the jobs in {}; check its permissions", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{} has several jobs of the name `{name}`; give the id of the one that is meant: {ids}", path.display())]
    Several {
        name: String,
        ids: String,
        path: PathBuf,
    },
    #[error("there is no job `{name}` in {}; the jobs are {known}", path.display())]
    Unknown {
        name: String,
        path: PathBuf,
        known: String,
    },
}

/// The job of this id, else of this name.
///
/// # Errors
/// When the jobs cannot be read, or it is none of them.
pub(super) fn find(state_dir: &Path, name: &str) -> Result<Job, CommandError> {
    let path = state_dir.join(FILE);
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(JobError::NoFile { path }.into());
        }
        Err(source) => return Err(JobError::Unreadable { path, source }.into()),
    };
    let read = serde_json::from_slice::<Document>(&bytes);
    let Document { jobs } = read.map_err(|source| JobError::Damaged {
        path: path.clone(),
        source,
    })?;
    let of = |member: &str| {
        jobs.iter()
            .filter(|job| text(job, member) == Some(name))
            .collect::<Vec<_>>()
    };
    let error = match (of("id").as_slice(), of("name").as_slice()) {
        ([job, ..], _) | ([], [job]) => return Ok(read_job(job)),
        ([], []) => {
            let names = jobs
                .iter()
                .filter_map(|job| text(job, "name").or_else(|| text(job, "id")));
            let known: Vec<&str> = names.collect();
            JobError::Unknown {
                name: name.to_owned(),
                known: if known.is_empty() {
                    "none".to_owned()
                } else {
                    known.join(", ")
                },
                path,
            }
        }
        ([], named) => {
            let ids: Vec<&str> = named
                .iter()
                .map(|job| text(job, "id").unwrap_or("none"))
                .collect();
            JobError::Several {
                name: name.to_owned(),
                ids: ids.join(", "),
                path,
            }
        }
    };
    Err(error.into())
}

fn text<'v>(value: &'v Value, member: &str) -> Option<&'v str> {
    value
        .get(member)?
        .as_str()
        .map(str::trim)
        .filter(|text| !text.is_empty())
}

fn read_job(job: &Value) -> Job {
    let payload = job.get("payload");
    let texts = |value: &Value| {
        let items = value.as_array()?.iter();
        Some(items.filter_map(Value::as_str).map(str::to_owned).collect())
    };
    Job {
        agent: text(job, "agentId").map(AgentId::new),
        payload: CronPayload {
            model: payload
                .and_then(|payload| text(payload, "model"))
                .map(str::to_owned),
            fallbacks: payload
                .and_then(|payload| payload.get("fallbacks"))
                .and_then(texts),
            ..CronPayload::default()
        },
    }
}
