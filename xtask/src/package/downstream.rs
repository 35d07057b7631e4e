//! The project outside of the workspace whose members use the packed crates as their READMEs say.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{PackedCrate, readme};
use crate::cli::CannotRun;
use crate::workspace::{self, Workspace};

/// A written project.
pub(super) struct Downstream {
    folder: PathBuf,
    /// Where it is built: below the workspace's own target folder, so that a second run is quick.
    target: PathBuf,
}

impl Downstream {
    /// Writes a project below `folder` with one member for each of `libraries`; every crate that is asked for comes from
    /// `packed`.
    pub(super) fn write(
        workspace: &Workspace,
        folder: &Path,
        packed: &[PackedCrate],
        libraries: &[&PackedCrate],
    ) -> Result<Self, CannotRun> {
        let folder = folder.join("downstream");
        let mut manifest = "[workspace]\nresolver = \"3\"\nmembers = [\n".to_owned();
        for library in libraries {
            let _ = writeln!(manifest, "    \"{}\",", member(&library.name));
        }
        manifest.push_str("]\n\n[patch.crates-io]\n");
        for one in packed.iter().filter(|one| one.is_library) {
            let _ = writeln!(
                manifest,
                "{} = {{ path = \"{}\" }}",
                one.name,
                one.folder.display()
            );
        }
        write(&folder.join("Cargo.toml"), &manifest)?;
        // The versions of third parties that the workspace is tested with.
        let lock = workspace.root().join("Cargo.lock");
        std::fs::copy(&lock, folder.join("Cargo.lock"))
            .map_err(|error| workspace::cannot_use(&lock, &error))?;
        for library in libraries {
            let path = library.folder.join("README.md");
            let text =
                std::fs::read_to_string(&path).map_err(|error| workspace::cannot_use(&path, &error))?;
            let dependencies = readme::dependencies(&library.name, &text)?;
            let member = folder.join(member(&library.name));
            let manifest = format!(
                "[package]\nname = \"{}\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n[dependencies]\n{dependencies}\n",
                self::member(&library.name)
            );
            write(&member.join("Cargo.toml"), &manifest)?;
            write(&member.join("README.md"), &text)?;
            write(
                &member.join("src/lib.rs"),
                "#![doc = include_str!(\"../README.md\")]\n",
            )?;
        }
        Ok(Self {
            folder,
            target: workspace.root().join("target/downstream"),
        })
    }

    /// The command that tests the examples of one crate's README.
    pub(super) fn test(&self, workspace: &Workspace, name: &str) -> Command {
        let mut command = workspace.cargo();
        command
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", &self.target);
        command.args(["test", "--quiet", "--doc", "--package", &member(name)]);
        command
    }

    /// The command that builds a program from what was packed of it.
    pub(super) fn build(
        &self,
        workspace: &Workspace,
        packed: &[PackedCrate],
        program: &PackedCrate,
    ) -> Command {
        let mut command = workspace.cargo();
        command
            .current_dir(&program.folder)
            .env("CARGO_TARGET_DIR", &self.target);
        command.args(["check", "--quiet"]);
        for one in packed.iter().filter(|one| one.is_library) {
            command.arg("--config");
            command.arg(format!(
                "patch.crates-io.{}.path=\"{}\"",
                one.name,
                one.folder.display()
            ));
        }
        command
    }
}

/// The name of the member that uses a crate.
fn member(name: &str) -> String {
    format!("uses-{name}")
}

fn write(path: &Path, text: &str) -> Result<(), CannotRun> {
    path.parent()
        .map_or(Ok(()), std::fs::create_dir_all)
        .and_then(|()| std::fs::write(path, text))
        .map_err(|error| workspace::cannot_use(path, &error))
}
