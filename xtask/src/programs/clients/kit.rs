//! The official packages, and how each is installed and started.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cli::CannotRun;
use crate::workspace::{self, Workspace};

/// One package and the script that asks through it.
pub(super) struct Kit {
    pub(super) name: &'static str,
    script: &'static str,
    runtime: Runtime,
    package: &'static str,
}

/// What runs a script.
#[derive(Clone, Copy)]
enum Runtime {
    Node,
    Python,
}

pub(super) const KITS: &[Kit] = &[
    Kit {
        name: "openai for Python",
        script: "openai_python.py",
        runtime: Runtime::Python,
        package: "openai",
    },
    Kit {
        name: "anthropic for Python",
        script: "anthropic_python.py",
        runtime: Runtime::Python,
        package: "anthropic",
    },
    Kit {
        name: "openai for Node",
        script: "openai_node.mjs",
        runtime: Runtime::Node,
        package: "openai",
    },
];

impl Kit {
    /// Installs the package below `place`; the command runs its script.
    pub(super) fn install(&self, workspace: &Workspace, place: &Path) -> Result<Command, CannotRun> {
        let script = workspace.root().join("xtask/clients").join(self.script);
        match self.runtime {
            Runtime::Python => {
                let python = environment(&place.join("python"))?;
                let install = [
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--disable-pip-version-check",
                    self.package,
                ];
                workspace::output(Command::new(&python).args(install))?;
                let mut command = Command::new(python);
                command.arg(script);
                Ok(command)
            }
            Runtime::Node => {
                let node = place.join("node");
                std::fs::create_dir_all(&node).map_err(|error| workspace::cannot_use(&node, &error))?;
                let install = [
                    "install",
                    "--silent",
                    "--no-audit",
                    "--no-fund",
                    "--no-save",
                    "--prefix",
                ];
                workspace::output(Command::new("npm").args(install).arg(&node).arg(self.package))?;
                // Node looks for packages beside the script.
                let copy = node.join(self.script);
                std::fs::copy(&script, &copy).map_err(|error| workspace::cannot_use(&copy, &error))?;
                let mut command = Command::new("node");
                command.arg(copy);
                Ok(command)
            }
        }
    }
}

/// A Python of its own, so that nothing of the machine's is touched.
fn environment(place: &Path) -> Result<PathBuf, CannotRun> {
    let python = place.join("bin/python");
    if !python.exists() {
        workspace::output(Command::new("python3").args(["-m", "venv"]).arg(place))?;
    }
    Ok(python)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_is_there() {
        for kit in KITS {
            let script = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("clients")
                .join(kit.script);
            assert!(script.is_file(), "{}", script.display());
        }
    }
}
