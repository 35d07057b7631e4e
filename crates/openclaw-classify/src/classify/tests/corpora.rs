//! Real and invented error texts from the fixtures.

use super::{provider, said, verdict};
use crate::{Failure, Reason};

/// Real errors, one per line: `status`, `provider`, `message` and the accepted `reasons`.
pub(super) fn fixture() -> Vec<(Failure, Vec<Reason>)> {
    let root = env!("OPENCLAW_WORKSPACE_ROOT");
    let path = std::path::Path::new(root).join("fixtures/classify/real.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    text.lines()
        .map(|line| {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let text = |name: &str| row[name].as_str().map(str::to_owned);
            let failure = Failure {
                provider: text("provider").as_deref().and_then(provider),
                status: row["status"]
                    .as_u64()
                    .and_then(|status| u16::try_from(status).ok()),
                code: text("code"),
                kind: text("type"),
                message: text("message"),
                ..Failure::default()
            };
            let accepted = row["reasons"].as_array().unwrap().iter();
            (
                failure,
                accepted
                    .map(|reason| reason.as_str().unwrap().parse().unwrap())
                    .collect(),
            )
        })
        .collect()
}

#[test]
fn real_errors_are_recognised() {
    for (failure, accepted) in fixture() {
        let verdict = verdict(&failure);
        assert!(
            accepted.contains(&verdict.reason),
            "{failure:?}: {} by {} {:?}, not {accepted:?}",
            verdict.reason,
            verdict.rule,
            verdict.evidence
        );
    }
}

/// Texts of many providers: a line `# reason …` names the accepted reasons of the lines `provider|status|text` below.
pub(super) fn wordings() -> Vec<(Failure, Vec<Reason>)> {
    let path = std::path::Path::new(env!("OPENCLAW_WORKSPACE_ROOT")).join("fixtures/classify/wordings.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let mut accepted: Vec<Reason> = Vec::new();
    let mut rows = Vec::new();
    for line in text.lines() {
        if let Some(reasons) = line.strip_prefix("# ") {
            accepted = reasons.split(' ').map(|reason| reason.parse().unwrap()).collect();
            continue;
        }
        let mut parts = line.splitn(3, '|');
        let mut part = || parts.next().unwrap();
        let (id, status, message) = (part(), part(), part());
        let failure = Failure {
            provider: provider(id),
            status: status.parse().ok(),
            ..said(message)
        };
        rows.push((failure, accepted.clone()));
    }
    rows
}

#[test]
fn c_5_c_6_wordings_are_read_by_their_family() {
    let mut wrong = Vec::new();
    for (failure, accepted) in wordings() {
        let verdict = verdict(&failure);
        if !accepted.contains(&verdict.reason) {
            wrong.push(format!("{failure:?}: {} by {}", verdict.reason, verdict.rule));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
