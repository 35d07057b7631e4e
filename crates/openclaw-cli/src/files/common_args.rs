//! The arguments that every command but `serve`, `session export` and `completions` ends with.

use clap::Args;

use super::PathArgs;
use crate::terminal::OutputArgs;

/// The form of a command's output, and the files that it works on.
#[derive(Debug, Args)]
pub(crate) struct CommonArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) places: PathArgs,
}
