//! The modules at the root of each crate, as a table in the order of their layers, checked against the sources.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::source::{RootUse, declared_modules, re_exports, root_uses};
use crate::cli::CannotRun;
use crate::workspace;

/// How many modules a crate may have at its root: as many as a reader takes in at one look.
const MOST: usize = 12;

/// The root modules of one crate.
struct CrateModules {
    package: &'static str,
    /// The folder that holds `lib.rs` or `main.rs`.
    folder: &'static str,
    /// Lowest first: a module may use those before its own place, and no other.
    order: &'static [&'static str],
}

/// Lowest crate first, as in `LAYERS`.
#[rustfmt::skip]
const MODULES: &[CrateModules] = &[
    CrateModules {
        package: "openclaw-ids",
        folder: "crates/openclaw-ids/src",
        order: &["error", "text_id", "agent", "profile", "provider", "session", "model"],
    },
    CrateModules {
        package: "openclaw-providers",
        folder: "crates/openclaw-providers/src",
        order: &[
            "address", "api_format", "login", "provider", "catalogue", "auth_aliases", "family", "model_renames", "lookup",
        ],
    },
    CrateModules {
        package: "openclaw-classify",
        folder: "crates/openclaw-classify/src",
        order: &[
            "reason", "text", "redact", "failure", "facts", "verdict", "rules", "hint", "engine", "rule_set", "classify",
            "observation",
        ],
    },
    CrateModules {
        package: "openclaw-cooldown",
        folder: "crates/openclaw-cooldown/src",
        order: &[
            "event", "millis", "ladder", "config", "usage_state", "usage_stats", "availability", "endpoint", "gate",
            "transition", "usage_probe",
        ],
    },
    CrateModules {
        package: "openclaw-chain",
        folder: "crates/openclaw-chain/src",
        order: &[
            "config", "vendor", "names", "alias", "primary", "resolver", "source", "candidates", "image", "policy", "lint",
        ],
    },
    CrateModules {
        package: "openclaw-wire",
        folder: "crates/openclaw-wire/src",
        order: &["surrogates", "partial_json", "sse", "body_kind", "request_body", "overlap", "format", "progress", "splice"],
    },
    CrateModules {
        package: "openclaw-sqlite",
        folder: "crates/openclaw-sqlite/src",
        order: &["error", "transaction", "file", "connection", "filesystem", "fair_lock", "schema", "batch_writer"],
    },
    CrateModules {
        package: "openclaw-auth-store",
        folder: "crates/openclaw-auth-store/src",
        order: &[
            "secret", "error", "credential", "config", "snapshot", "store", "profile", "secret_resolver", "import", "sqlite",
            "doctor", "refresh",
        ],
    },
    CrateModules {
        package: "openclaw-session",
        folder: "crates/openclaw-session/src",
        order: &[
            "command", "turn_kind", "entry", "fallback_override", "lifecycle", "live_switch", "notice", "primary_probe",
            "profile_pin", "status", "store", "user_selection",
        ],
    },
    CrateModules {
        package: "openclaw-runner",
        folder: "crates/openclaw-runner/src",
        order: &[
            "request", "attempt", "clock", "skip_cache", "record", "machine", "error", "observer", "recorder", "telemetry",
            "driver",
        ],
    },
    CrateModules {
        package: "openclaw-history",
        folder: "crates/openclaw-history/src",
        order: &[
            "millis", "explain", "recording", "entry", "window_changes", "operator_change", "replay", "store",
        ],
    },
    CrateModules {
        package: "openclaw-upstream",
        folder: "crates/openclaw-upstream/src",
        order: &[
            "worker_runtimes", "deadlines", "endpoint", "retry", "call", "client", "facts", "streaming_answer", "arrival", "exchange",
            "fuzzing",
        ],
    },
    CrateModules {
        package: "openclaw-config",
        folder: "crates/openclaw-config/src",
        order: &[
            "environment", "failover", "file", "findings", "gateway", "paths", "secrets", "config", "permission_audit",
        ],
    },
    CrateModules {
        package: "openclaw-gateway",
        folder: "crates/openclaw-gateway/src",
        order: &[
            "providers", "server", "telemetry", "agents", "logins", "credentials", "attempt", "report", "state", "http",
            "admin", "gateway",
        ],
    },
    CrateModules {
        package: "openclaw-cli",
        folder: "crates/openclaw-cli/src",
        order: &["demo", "file_limit", "outcome", "signals", "terminal", "files", "cli"],
    },
    CrateModules {
        package: "xtask-faultwall",
        folder: "xtask/faultwall/src",
        order: &["fault", "guide", "scripted", "wire", "request", "answer", "perform", "wall"],
    },
    CrateModules {
        package: "xtask",
        folder: "xtask/src",
        order: &[
            "cli", "diff", "workspace", "api", "docs", "fuzz", "layering", "package", "programs", "snapshots", "test", "trace",
        ],
    },
    CrateModules {
        package: "xtask-bench",
        folder: "xtask/bench/src",
        order: &["arguments", "engine", "error_texts", "check", "programs", "table", "suites"],
    },
    CrateModules {
        package: "xtask-corpus",
        folder: "xtask/corpus/src",
        order: &["difference", "row", "kind", "judge", "report", "arguments"],
    },
    CrateModules {
        package: "xtask-sim",
        folder: "xtask/sim/src",
        order: &[
            "arguments", "random", "time", "faults", "setup", "trace", "check", "world", "play", "report", "shrink",
        ],
    },
];

/// Everything that the sources below `root` do and the table does not allow, each finding with its remedy.
pub(super) fn check(root: &Path) -> Result<Vec<String>, CannotRun> {
    let mut findings = Vec::new();
    for crate_modules in MODULES {
        let sources = Sources::read(&root.join(crate_modules.folder))?;
        findings.extend(check_crate(crate_modules, &sources));
    }
    Ok(findings)
}

/// The packages that have a row.
pub(super) fn packages() -> impl Iterator<Item = &'static str> {
    MODULES.iter().map(|row| row.package)
}

/// What is read of one crate.
#[derive(Default)]
struct Sources {
    /// The text of `lib.rs`, and of `main.rs` where there is one.
    roots: Vec<String>,
    /// Each further file by its path below `src`, with `/`.
    files: BTreeMap<String, String>,
}

impl Sources {
    fn read(folder: &Path) -> Result<Self, CannotRun> {
        let mut sources = Self::default();
        let mut waiting: Vec<PathBuf> = vec![folder.to_owned()];
        while let Some(directory) = waiting.pop() {
            let entries =
                std::fs::read_dir(&directory).map_err(|error| workspace::cannot_use(&directory, &error))?;
            for entry in entries {
                let path = entry
                    .map_err(|error| workspace::cannot_use(&directory, &error))?
                    .path();
                if path.is_dir() {
                    waiting.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let text = std::fs::read_to_string(&path)
                        .map_err(|error| workspace::cannot_use(&path, &error))?;
                    let name = path
                        .strip_prefix(folder)
                        .unwrap_or(&path)
                        .to_string_lossy()
                        .replace('\\', "/");
                    if matches!(name.as_str(), "lib.rs" | "main.rs") {
                        sources.roots.push(text);
                    } else {
                        sources.files.insert(name, text);
                    }
                }
            }
        }
        Ok(sources)
    }
}

fn check_crate(crate_modules: &CrateModules, sources: &Sources) -> Vec<String> {
    let CrateModules {
        package,
        folder,
        order,
    } = crate_modules;
    let mut findings = Vec::new();
    let declared: Vec<String> = sources
        .roots
        .iter()
        .flat_map(|text| declared_modules(text))
        .collect();
    let origins: BTreeMap<String, String> = sources.roots.iter().flat_map(|text| re_exports(text)).collect();
    if declared.len() > MOST {
        findings.push(format!(
            "{folder}: {package} has {} modules at its root, {MOST} is the most\n  remedy: put modules of one concern below \
             one of them",
            declared.len()
        ));
    }
    for name in &declared {
        if !order.contains(&name.as_str()) {
            findings.push(format!(
                "{folder}: the root module {name} is not in the table\n  remedy: add it to the row of {package} in MODULES \
                 (xtask/src/layering/modules.rs), behind all that it uses"
            ));
        }
    }
    for name in order
        .iter()
        .filter(|name| !declared.iter().any(|module| module == *name))
    {
        findings.push(format!(
            "{folder}: the table has a root module {name}, the crate has none\n  remedy: take it out of the row of {package} in \
             MODULES (xtask/src/layering/modules.rs)"
        ));
    }
    for (name, text) in &sources.files {
        if is_test(name) {
            continue;
        }
        let from = root_module(name);
        let depth = name.matches('/').count() + 1;
        for RootUse { name: used, line } in root_uses(text, depth) {
            let to = if declared.contains(&used) {
                Some(&used)
            } else {
                origins.get(&used)
            };
            let Some(to) = to.filter(|to| *to != from && declared.contains(to)) else {
                continue;
            };
            let place = |module: &str| order.iter().position(|other| *other == module);
            if let (Some(from_place), Some(to_place)) = (place(from), place(to))
                && to_place >= from_place
            {
                findings.push(format!(
                    "{folder}/{name}:{line}: module {from} may not use {to}, which lies above it\n  remedy: move what is needed \
                     to the lower module; the order is the row of {package} in MODULES (xtask/src/layering/modules.rs)"
                ));
            }
        }
    }
    findings
}

/// Whether the file holds tests only.
fn is_test(name: &str) -> bool {
    name.split('/')
        .any(|part| matches!(part, "tests" | "tests.rs" | "snapshots"))
        || name.ends_with("_tests.rs")
}

fn root_module(name: &str) -> &str {
    name.split('/').next().unwrap_or(name).trim_end_matches(".rs")
}

#[cfg(test)]
mod tests;
