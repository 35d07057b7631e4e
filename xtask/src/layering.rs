//! Which workspace crate may depend on which, and which root module of a crate on which, as tables that are checked.

mod modules;
mod source;

use std::collections::BTreeSet;

use crate::cli::{Accepts, Args, CannotRun, Outcome, Task};
use crate::workspace::{self, Workspace};

pub(crate) const TASK: Task = Task {
    name: "layering",
    summary: "Checks the dependencies between crates, and between their modules, against the layer tables",
    usage: "",
    help: "\
LAYERS in xtask/src/layering.rs says:
- which arrows between workspace crates exist (they are transitive: what an arrow reaches may be used);
- what a tier never pulls in, however deep: a pure crate reaches no runtime, no database and no logging.
MODULES in xtask/src/layering/modules.rs says in which order the modules at each crate's root stand, lowest first. A module
uses lower ones only, so they form no cycle; a root has twelve at most. Tests are free.

Examples:
  cargo xtask layering
  cargo tree -p openclaw-session -i openclaw-ids    why an edge is there",
    accepts: Accepts::Flags(&[]),
    run: |_: &Args| run(&Workspace::find()?),
};

/// What kind of code a crate holds, and so what it never pulls in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tier {
    Pure,
    Store,
    Async,
    Process,
    Tooling,
}

impl Tier {
    /// Crates that must not be reachable through normal and build dependencies.
    fn never(self) -> &'static [&'static str] {
        match self {
            Self::Pure => &[
                "async-std",
                "axum",
                "hyper",
                "log",
                "opentelemetry",
                "r2d2",
                "rand",
                "reqwest",
                "rusqlite",
                "tokio",
                "tracing",
                "tracing-core",
            ],
            Self::Store => &["axum", "hyper", "opentelemetry", "reqwest", "tracing-subscriber"],
            // Exporters and the subscriber belong to the process; SQL comes in only with the gateway's choice of engine.
            Self::Async => &[
                "axum",
                "hyper",
                "opentelemetry-otlp",
                "opentelemetry-prometheus",
                "opentelemetry_sdk",
                "r2d2",
                "reqwest",
                "rusqlite",
                "tracing-subscriber",
            ],
            Self::Process | Self::Tooling => &[],
        }
    }
}

/// One crate, its tier and the arrows that leave it.
struct Layer {
    package: &'static str,
    tier: Tier,
    arrows: &'static [&'static str],
}

/// Lowest first, so that every arrow points to a row above its own.
#[rustfmt::skip]
const LAYERS: &[Layer] = &[
    Layer { package: "openclaw-ids",        tier: Tier::Pure,    arrows: &[] },
    Layer { package: "openclaw-providers",  tier: Tier::Pure,    arrows: &["openclaw-ids"] },
    Layer { package: "openclaw-classify",   tier: Tier::Pure,    arrows: &["openclaw-providers"] },
    Layer { package: "openclaw-cooldown",   tier: Tier::Pure,    arrows: &["openclaw-classify"] },
    Layer { package: "openclaw-chain",      tier: Tier::Pure,    arrows: &["openclaw-providers"] },
    Layer { package: "openclaw-wire",       tier: Tier::Pure,    arrows: &["openclaw-classify"] },
    Layer { package: "openclaw-sqlite",     tier: Tier::Store,   arrows: &[] },
    Layer { package: "openclaw-auth-store", tier: Tier::Store,   arrows: &["openclaw-cooldown", "openclaw-sqlite"] },
    Layer { package: "openclaw-session",    tier: Tier::Store,   arrows: &["openclaw-chain", "openclaw-sqlite"] },
    Layer { package: "openclaw-runner",     tier: Tier::Async,   arrows: &["openclaw-session", "openclaw-auth-store"] },
    Layer { package: "openclaw-history",    tier: Tier::Process, arrows: &["openclaw-runner", "openclaw-sqlite"] },
    Layer { package: "openclaw-config",     tier: Tier::Process, arrows: &["openclaw-chain", "openclaw-auth-store"] },
    Layer { package: "xtask-faultwall",     tier: Tier::Tooling, arrows: &[] },
    Layer { package: "openclaw-upstream",   tier: Tier::Process, arrows: &["openclaw-wire", "xtask-faultwall"] },
    Layer { package: "openclaw-gateway",    tier: Tier::Process, arrows: &["openclaw-config", "openclaw-history", "openclaw-upstream"] },
    Layer { package: "openclaw-cli",        tier: Tier::Process, arrows: &["openclaw-gateway", "xtask-faultwall"] },
    Layer { package: "xtask",               tier: Tier::Tooling, arrows: &[] },
    Layer { package: "xtask-bench",         tier: Tier::Tooling, arrows: &["openclaw-runner"] },
    Layer { package: "xtask-corpus",        tier: Tier::Tooling, arrows: &["openclaw-runner"] },
    Layer { package: "xtask-sim",           tier: Tier::Tooling, arrows: &["openclaw-history"] },
];

/// Without these features a store crate is the pure core and the memory engine, and reaches no database.
const FEATURELESS: &[(&str, &[&str])] = &[
    ("openclaw-auth-store", &["r2d2", "rusqlite"]),
    ("openclaw-session", &["r2d2", "rusqlite"]),
    ("openclaw-history", &["r2d2", "rusqlite"]),
];

/// Prints every violation with its remedy.
pub(crate) fn run(workspace: &Workspace) -> Result<Outcome, CannotRun> {
    let tree = workspace::output(workspace.cargo().args([
        "tree",
        "--workspace",
        "--all-features",
        "--edges",
        "normal,build,dev",
        "--depth",
        "1",
        "--no-dedupe",
        "--prefix",
        "depth",
        "--format",
        "{p}",
    ]))?;
    let edges = edges(&tree);
    let mut findings = check_edges(&edges);
    let members: BTreeSet<&str> = edges.iter().map(|edge| edge.from.as_str()).collect();
    for layer in LAYERS.iter().filter(|layer| members.contains(layer.package)) {
        // The runner is looked at without the features that only its users switch on.
        let features: &[&str] = if layer.tier == Tier::Async {
            &[]
        } else {
            &["--all-features"]
        };
        findings.extend(reached(workspace, layer.package, features, layer.tier.never())?);
    }
    for (package, never) in FEATURELESS
        .iter()
        .filter(|(package, _)| members.contains(package))
    {
        findings.extend(reached(workspace, package, &["--no-default-features"], never)?);
    }
    findings.extend(modules::check(workspace.root())?);
    let rows: BTreeSet<&str> = modules::packages().collect();
    findings.extend(members.difference(&rows).map(|package| {
        format!(
            "{package} has no row of root modules\n  remedy: add it to MODULES in xtask/src/layering/modules.rs"
        )
    }));
    for finding in &findings {
        println!("{finding}");
    }
    if findings.is_empty() {
        println!(
            "layering: {} crates and their modules keep to the tables",
            members.len()
        );
        return Ok(Outcome::Clean);
    }
    Ok(Outcome::Findings)
}

/// A package and one package it depends on directly; a package without dependencies has an edge to nothing.
#[derive(Debug, PartialEq, Eq)]
struct Edge {
    from: String,
    to: Option<String>,
}

/// Reads `cargo tree --prefix depth`: `0name vX` opens a package, `1name vX` is one of its dependencies.
fn edges(tree: &str) -> Vec<Edge> {
    let mut edges: Vec<Edge> = Vec::new();
    let mut from = String::new();
    for line in tree.lines() {
        let Some(depth) = line.chars().next().filter(char::is_ascii_digit) else {
            continue;
        };
        let name = line[1..].split_whitespace().next().unwrap_or_default();
        if depth == '0' {
            name.clone_into(&mut from);
            edges.push(Edge {
                from: from.clone(),
                to: None,
            });
        } else {
            edges.push(Edge {
                from: from.clone(),
                to: Some(name.to_owned()),
            });
        }
    }
    edges
}

fn layer(package: &str) -> Option<&'static Layer> {
    LAYERS.iter().find(|layer| layer.package == package)
}

/// Everything the arrows of `package` reach.
fn reachable(package: &str) -> BTreeSet<&'static str> {
    let mut seen = BTreeSet::new();
    let mut waiting: Vec<_> = layer(package)
        .into_iter()
        .flat_map(|layer| layer.arrows)
        .collect();
    while let Some(next) = waiting.pop() {
        if seen.insert(*next) {
            waiting.extend(layer(next).into_iter().flat_map(|layer| layer.arrows));
        }
    }
    seen
}

fn check_edges(edges: &[Edge]) -> Vec<String> {
    let mut findings = Vec::new();
    for Edge { from, to } in edges {
        let Some(to) = to else {
            if layer(from).is_none() {
                findings.push(format!(
                    "{from} is not in the layer table\n  remedy: add its row to LAYERS in xtask/src/layering.rs"
                ));
            }
            continue;
        };
        let concerns_us = layer(from).is_some() && layer(to).is_some();
        if concerns_us && !reachable(from).contains(to.as_str()) {
            findings.push(format!(
                "{}: {from} may not depend on {to}\n  remedy: move what is needed to the lowest crate whose concept it \
                 is; a new arrow in LAYERS (xtask/src/layering.rs) is a review of its own",
                manifest(from)
            ));
        }
        if from == "xtask" {
            findings.push(format!(
                "{}: xtask depends on {to}, but it uses the standard library only\n  remedy: put what needs crates into \
                 a package of its own below xtask",
                manifest(from)
            ));
        }
    }
    findings
}

fn manifest(package: &str) -> String {
    match package.strip_prefix("xtask") {
        None => format!("crates/{package}/Cargo.toml"),
        Some("") => "xtask/Cargo.toml".to_owned(),
        Some(tool) => format!("xtask/{}/Cargo.toml", tool.trim_start_matches('-')),
    }
}

/// Which of `never` the package pulls in, however deep.
fn reached(
    workspace: &Workspace,
    package: &str,
    features: &[&str],
    never: &[&str],
) -> Result<Vec<String>, CannotRun> {
    if never.is_empty() {
        return Ok(Vec::new());
    }
    let tree = workspace::output(
        workspace
            .cargo()
            .args([
                "tree",
                "--package",
                package,
                "--edges",
                "normal,build",
                "--prefix",
                "none",
                "--format",
                "{p}",
            ])
            .args(features),
    )?;
    let found: BTreeSet<&str> = tree
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let features = features.join(" ");
    let findings = never.iter().filter(|name| found.contains(**name)).map(|name| {
        format!(
            "{}: {package} pulls in {name}, which its tier never contains\n  remedy: `cargo tree -e normal,build -p \
             {package} {features} -i {name}` shows through what; move that use to a higher crate",
            manifest(package)
        )
    });
    Ok(findings.collect())
}

#[cfg(test)]
mod tests;
