//! Reasons of failures: recorded answers (`classify`) and answers to texts from public bug reports (`real-errors`).

pub(super) mod facts;

use jiff::Timestamp;
use openclaw_classify::{Failure, Reason, classify};
use serde_json::Value;

use super::{Kind, OverrulePolicy};
use crate::row::Row;

pub(crate) const CLASSIFY: Kind = Kind {
    name: "classify",
    answer: |row| reason(&recorded(row)),
    accepted,
    overruled: OverrulePolicy::NOTHING,
};

pub(crate) const REAL_ERRORS: Kind = Kind {
    name: "real-errors",
    answer: |row| reason(&facts::reported(row)),
    accepted,
    overruled: OverrulePolicy::NOTHING,
};

fn recorded(row: &Row) -> Failure {
    let input = row.input();
    if row.member("kind") == "error" {
        facts::thrown(&input["error"], &input["providerHint"])
    } else {
        facts::signal(input)
    }
}

/// The recorded answer and those that the row accepts too. Where nothing, or only a local condition, was recognised the
/// files say null, and so it agrees with every label for that. They have no name for refused content either.
fn accepted(row: &Row) -> Vec<Value> {
    let also = row.member("also_ok").as_array().into_iter().flatten();
    let mut answers: Vec<Value> = std::iter::once(row.expected()).chain(also).cloned().collect();
    if answers.contains(&Value::Null) {
        let unrecognised = [
            Reason::Aborted,
            Reason::ContentPolicy,
            Reason::EmptyResponse,
            Reason::Local,
            Reason::Unclassified,
            Reason::Unknown,
        ];
        answers.extend(unrecognised.map(|reason| reason.as_str().into()));
    }
    answers
}

/// The reason alone; how certain, whose fault and until when are questions that the files do not ask.
fn reason(failure: &Failure) -> Value {
    classify(failure, NOW).map_or(Value::Null, |verdict| verdict.reason.as_str().into())
}

/// Reasons do not depend on the time; hints do, and are not compared.
const NOW: Timestamp = Timestamp::UNIX_EPOCH;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn null_accepts_every_label_of_the_unrecognised_and_a_reason_only_itself() {
        let nothing = accepted(&Row::of(&json!({"id": "x", "expected": null})));
        assert!(nothing.contains(&json!("unclassified")) && nothing.contains(&json!("local")));
        assert!(!nothing.contains(&json!("timeout")));
        let timeout = accepted(&Row::of(
            &json!({"id": "x", "expected": "timeout", "also_ok": ["server_error"]}),
        ));
        assert_eq!(timeout, [json!("timeout"), json!("server_error")]);
    }
}
