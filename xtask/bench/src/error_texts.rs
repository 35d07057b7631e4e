//! The collected error texts, by group.

use openclaw_classify::Failure as Failed;

use crate::Failure;

/// The texts of a group, as failures with nothing but a message.
pub(crate) fn failures(group: &str) -> Result<Vec<Failed>, Failure> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/classify/errors200.json"
    );
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))?;
    let rows: Vec<serde_json::Value> = serde_json::from_str(&text)?;
    let texts = rows
        .iter()
        .filter(|row| row["group"] == *group)
        .filter_map(|row| row["text"].as_str());
    let failure = |text: &str| Failed {
        message: Some(text.to_owned()),
        ..Failed::default()
    };
    Ok(texts.map(failure).collect())
}
