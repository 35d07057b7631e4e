//! Packs every crate that can be published, unpacks it outside of the workspace, and builds and tests users of it there.

mod downstream;
mod readme;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cli::{Accepts, Args, CannotRun, Flag, Outcome, Task};
use crate::workspace::{self, Workspace};
use downstream::Downstream;

pub(crate) const TASK: Task = Task {
    name: "package",
    summary: "Packs every crate and tests what is packed from outside of the workspace",
    usage: "[--package P]... [--keep]",
    help: "\
Every crate below crates/ is packed as a registry would get it and unpacked into a temporary folder. There a project is made
with one member per crate: its dependencies are the block that the crate's README tells its users to write, and its tests are
the README's examples. So a block that lacks something, a file that is not packed, or an example that does not hold fails here.
Crates that are programs are built. Dependencies of third parties come from the registry, in the versions of Cargo.lock.

Examples:
  cargo xtask package                            every crate
  cargo xtask package --package openclaw-chain   the examples of one crate; all are packed, since it needs them
  cargo xtask package --keep                     leaves the folder, to look at what users would get",
    accepts: Accepts::Flags(&[
        Flag { name: "--package", value: Some("P"), help: "test this crate alone; may be repeated" },
        Flag { name: "--keep", value: None, help: "leave the temporary folder and print where it is" },
    ]),
    run: |args| run(&Workspace::find()?, args),
};

/// A crate as it was packed.
struct PackedCrate {
    name: String,
    /// The unpacked folder.
    folder: PathBuf,
    /// Whether others can depend on it.
    is_library: bool,
}

fn run(workspace: &Workspace, args: &Args) -> Result<Outcome, CannotRun> {
    let chosen: Vec<&str> = args.values("--package").collect();
    let names = crate_names(workspace.root())?;
    if let Some(unknown) = chosen
        .iter()
        .find(|name| !names.iter().any(|known| known == *name))
    {
        return Err(CannotRun(format!(
            "there is no crate `{unknown}`; the crates are {}",
            names.join(", ")
        )));
    }
    let folder = std::env::temp_dir().join(format!("openclaw-package-{}", std::process::id()));
    let outcome =
        pack(workspace, &names, &folder).and_then(|packed| test(workspace, &folder, &packed, &chosen));
    if args.has("--keep") {
        println!("kept {}", folder.display());
    } else {
        // What cannot be removed is left to the system's own cleaning of temporary files.
        let _ = std::fs::remove_dir_all(&folder);
    }
    outcome
}

/// The names of the crates below `crates/`, which are those that can be published.
fn crate_names(root: &Path) -> Result<Vec<String>, CannotRun> {
    let folder = root.join("crates");
    let entries = std::fs::read_dir(&folder).map_err(|error| workspace::cannot_use(&folder, &error))?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| entry.path().join("Cargo.toml").is_file())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    Ok(names)
}

/// Packs the crates and unpacks them below `folder`.
fn pack(workspace: &Workspace, names: &[String], folder: &Path) -> Result<Vec<PackedCrate>, CannotRun> {
    println!("packing {} crates", names.len());
    let mut command = workspace.cargo();
    // They are built below, from outside, where nothing of the workspace can help them.
    command.args(["package", "--quiet", "--no-verify", "--allow-dirty"]);
    for name in names {
        command.args(["--package", name]);
    }
    workspace::output(&mut command)?;
    let packages = workspace.root().join("target/package");
    let unpacked = folder.join("crates");
    std::fs::create_dir_all(&unpacked).map_err(|error| workspace::cannot_use(&unpacked, &error))?;
    let mut packed = Vec::new();
    for name in names {
        let archive = newest_archive(&packages, name)?;
        let mut tar = Command::new("tar");
        tar.arg("-xzf").arg(&archive).arg("-C").arg(&unpacked);
        workspace::output(&mut tar)?;
        let stem = archive.file_stem().unwrap_or_default();
        let folder = unpacked.join(stem);
        let is_library = folder.join("src/lib.rs").is_file();
        packed.push(PackedCrate {
            name: name.clone(),
            folder,
            is_library,
        });
    }
    Ok(packed)
}

/// The archive of `name` that was written last; older versions may lie beside it.
fn newest_archive(packages: &Path, name: &str) -> Result<PathBuf, CannotRun> {
    let entries = std::fs::read_dir(packages).map_err(|error| workspace::cannot_use(packages, &error))?;
    let is_version = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
    entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "crate"))
        .filter(|path| {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            stem.strip_prefix(name)
                .and_then(|rest| rest.strip_prefix('-'))
                .is_some_and(is_version)
        })
        .max_by_key(|path| path.metadata().and_then(|metadata| metadata.modified()).ok())
        .ok_or_else(|| CannotRun(format!("cargo packed no {name} into {}", packages.display())))
}

/// Tests the libraries through a project that uses them, and builds the programs.
fn test(
    workspace: &Workspace,
    folder: &Path,
    packed: &[PackedCrate],
    chosen: &[&str],
) -> Result<Outcome, CannotRun> {
    let is_chosen = |packed: &&PackedCrate| chosen.is_empty() || chosen.contains(&packed.name.as_str());
    let mut findings = Vec::new();
    let libraries: Vec<&PackedCrate> = packed
        .iter()
        .filter(is_chosen)
        .filter(|one| one.is_library)
        .collect();
    let project = Downstream::write(workspace, folder, packed, &libraries)?;
    for library in &libraries {
        println!("testing the examples of {}", library.name);
        if !workspace::succeeds(&mut project.test(workspace, &library.name))? {
            findings.push(format!(
                "{}: its README does not hold for users of it",
                library.name
            ));
        }
    }
    for program in packed.iter().filter(is_chosen).filter(|one| !one.is_library) {
        println!("building {}", program.name);
        if !workspace::succeeds(&mut project.build(workspace, packed, program))? {
            findings.push(format!("{}: what is packed does not build", program.name));
        }
    }
    for finding in &findings {
        println!("{finding}");
    }
    if findings.is_empty() {
        println!(
            "{} packed crates hold for users of them",
            packed.iter().filter(is_chosen).count()
        );
        return Ok(Outcome::Clean);
    }
    Ok(Outcome::Findings)
}
