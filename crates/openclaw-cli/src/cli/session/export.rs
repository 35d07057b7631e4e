//! `session export`: all sessions as a `sessions.json` (S7).

use std::path::PathBuf;

use clap::Args;
use openclaw_config::Environment;
use openclaw_session::format_sessions_json;

use crate::files::{AgentArg, Files, PathArgs, absolute, private_file::write_new, read_sessions};
use crate::outcome::{CommandError, Outcome};
use crate::terminal::screen::Screen;

/// Arguments of `session export`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct ExportArgs {
    /// Write to this file, which must not exist [default: standard output]
    #[arg(long, short, value_name = "PATH")]
    output: Option<PathBuf>,
    #[command(flatten)]
    agent: AgentArg,
    #[command(flatten)]
    places: PathArgs,
}

const EXAMPLES: &str = "\
What only failover knows (probe marks, kept runs) is left out; the other program reads the rest as
its own.

Examples:
  openclaw-gateway session export > sessions.json
  openclaw-gateway session export --agent ops --output ./sessions-ops.json";

/// Writes the sessions.
pub(in crate::cli) fn run(
    environment: &Environment,
    arguments: &ExportArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    let files = Files::open(&arguments.places, environment)?;
    let agent = arguments.agent.id(&files)?;
    let text = format_sessions_json(read_sessions(&files.sessions_folder(&agent))?);
    match &arguments.output {
        None => screen.writer().write_all(text.as_bytes())?,
        Some(path) => {
            let path = absolute(path, environment);
            write_new(&path, &text).map_err(|source| ExportError {
                path: path.clone(),
                source,
            })?;
            screen.line(format!("Wrote {}.", path.display()))?;
        }
    }
    Ok(Outcome::Fine)
}

/// The file cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}; name a file that does not exist yet, in a folder of yours", path.display())]
struct ExportError {
    path: PathBuf,
    #[source]
    source: std::io::Error,
}
