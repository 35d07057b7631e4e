//! The `openclaw-gateway` binary.

use std::process::ExitCode;

use openclaw_config::Environment;

/// The system's allocator took a seventh of a request's processor time and held a fifth more memory.
#[cfg(not(target_env = "msvc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    openclaw_cli::run(&Environment::of_this_process(), std::env::args_os())
}
