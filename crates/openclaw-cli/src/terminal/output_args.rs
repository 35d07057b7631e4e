//! The argument by which a command's output is JSON.

use clap::Args;

/// In which form a command writes its result.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct OutputArgs {
    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
}
