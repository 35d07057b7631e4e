//! A configuration as people have it, read whole.

use std::fmt::Write as _;

use super::read;
use crate::{Resolver, RunKind, SelectionFacts, lint};

/// A configuration with every section of the other program, in JSON5.
#[test]
fn bl_98_a_whole_configuration_of_a_long_time_user() {
    let path = concat!(
        env!("OPENCLAW_WORKSPACE_ROOT"),
        "/fixtures/config/everything.json5"
    );
    let config = read(&std::fs::read_to_string(path).unwrap()).unwrap();
    let resolver = Resolver::new(&config);
    let mut told = String::new();
    for agent in config.agent_ids() {
        for (name, run) in [
            ("turn", RunKind::Turn),
            ("heartbeat", RunKind::Heartbeat { model: None }),
            ("sub-agent", RunKind::Subagent),
            ("job", RunKind::Cron(crate::CronPayload::default())),
        ] {
            let selection = resolver.select(&SelectionFacts::new(&agent, run));
            writeln!(told, "{agent}, {name}\n  {}", selection.trace.join("\n  ")).unwrap();
            let chain = resolver.explain_chain(&selection.requested, selection.fallbacks.as_deref());
            writeln!(told, "{chain}").unwrap();
        }
    }
    writeln!(told, "images\n{}", resolver.explain_image_chain(None)).unwrap();
    for finding in lint(&config, None) {
        writeln!(told, "{finding}").unwrap();
    }
    let printed = format!("{config:?} {resolver:?}");
    for text in [&told, &printed] {
        assert!(!text.contains("canary"), "{text}");
    }
    insta::assert_snapshot!("everything", told);
}
