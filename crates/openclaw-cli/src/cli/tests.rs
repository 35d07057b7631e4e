//! `docs/cli.md` says what the definitions say: written on demand, compared otherwise.

use std::fmt::Write as _;
use std::path::Path;

use super::*;

/// Set by `cargo xtask docs`.
const WRITE: &str = "OPENCLAW_WRITE_DOCS";

const HEAD: &str = "\
# The command line

Generated from the definitions in `openclaw-gateway` by `cargo xtask docs`; the tests check that it is current.

Every command works on the files of the state directory, whether or not a gateway is running on them; a running gateway sees
what a command changes at once, and a command sees what the gateway changed. Reading changes nothing. What reports can also be
written as JSON with `--json`: names are stable, times are Unix milliseconds. Colours are for terminals, and `NO_COLOR`
turns them off. Secrets are read from standard input, a hidden prompt or a variable, and never shown.

| Exit status | Meaning |
|---|---|
| 0 | fine |
| 1 | it ran and found something: a finding, a credential that did not answer, a chain that cannot be asked |
| 2 | it cannot run: a wrong argument, a file that cannot be used |
";

fn render() -> String {
    let mut out = HEAD.to_owned();
    let mut command = Cli::command().term_width(100);
    command.build();
    section(&command, "openclaw-gateway", &mut out);
    out
}

fn section(command: &clap::Command, path: &str, out: &mut String) {
    let mut shown = command.clone().color(clap::ColorChoice::Never);
    let help = shown.render_long_help().to_string();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    writeln!(
        out,
        "\n## `{path}`\n\n```text\n{}\n```",
        help.join("\n").trim_end()
    )
    .unwrap();
    let children = command
        .get_subcommands()
        .filter(|child| child.get_name() != "help");
    for child in children {
        section(child, &format!("{path} {}", child.get_name()), out);
    }
}

#[test]
fn the_document_is_current() {
    let path = Path::new(env!("OPENCLAW_WORKSPACE_ROOT")).join("docs/cli.md");
    let rendered = render();
    let environment = Environment::of_this_process();
    if environment.get(WRITE).is_some() {
        std::fs::write(&path, &rendered).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let same = written == rendered;
    assert!(
        same,
        "docs/cli.md is not what the definitions say; `cargo xtask docs` writes it"
    );
}

#[test]
fn the_definitions_hold_together() {
    Cli::command().debug_assert();
}

/// Every command at the end of a branch, with its path.
fn leaves(command: &clap::Command, path: &str, found: &mut Vec<(String, clap::Command)>) {
    let children: Vec<&clap::Command> = command
        .get_subcommands()
        .filter(|child| child.get_name() != "help")
        .collect();
    if children.is_empty() {
        found.push((path.to_owned(), command.clone()));
    }
    for child in children {
        leaves(child, &format!("{path} {}", child.get_name()), found);
    }
}

#[test]
fn every_command_teaches_by_examples_of_itself() {
    let mut found = Vec::new();
    leaves(&Cli::command(), "openclaw-gateway", &mut found);
    for (path, command) in found {
        let examples = command
            .get_after_help()
            .map(ToString::to_string)
            .unwrap_or_default();
        assert!(examples.contains("Examples:"), "{path} has no examples");
        assert!(examples.contains(&path), "{path} is not in its own examples");
        let has_json = command
            .get_arguments()
            .any(|argument| argument.get_id() == "json");
        let needs_none = ["serve", "export", "completions"];
        assert!(
            has_json || needs_none.iter().any(|name| path.ends_with(name)),
            "{path} has no --json"
        );
    }
}

/// The words of a line as a shell sees them: what stands in quotes is one.
fn words(line: &str) -> Vec<String> {
    let parts = line.split(['\'', '"']).enumerate();
    let words = parts.flat_map(|(index, part)| match index % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    });
    words.collect()
}

#[test]
fn examples_can_be_typed() {
    let mut found = Vec::new();
    leaves(&Cli::command(), "openclaw-gateway", &mut found);
    found.push(("openclaw-gateway".to_owned(), Cli::command()));
    for (path, command) in found {
        let text = command
            .get_after_help()
            .map(ToString::to_string)
            .unwrap_or_default();
        for line in text.lines() {
            let Some(at) = line.find("openclaw-gateway ") else {
                continue;
            };
            // What a shell would take for itself, and what the example says about itself.
            let typed = line[at..].split("  ").next().unwrap_or_default();
            let typed = typed.split(['|', '>', '<', '`', '#']).next().unwrap_or_default();
            if typed.contains('…') || typed.ends_with('\\') {
                continue;
            }
            let parsed = Cli::try_parse_from(words(typed));
            let kind = parsed.err().map(|error| error.kind());
            assert!(
                matches!(kind, None | Some(clap::error::ErrorKind::DisplayHelp)),
                "{path}: `{typed}`: {kind:?}"
            );
        }
    }
}
