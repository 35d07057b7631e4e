//! Classification of the collected texts.

use std::hint::black_box;

use jiff::Timestamp;
use openclaw_classify::classify;

use super::Prepared;
use crate::error_texts;

/// One classification of a text of this group.
#[expect(clippy::expect_used, reason = "the fixture is part of the workspace")]
pub(super) fn group(group: &str) -> Prepared {
    let failures = error_texts::failures(group).expect("the collected texts can be read");
    Prepared {
        operations: failures.len(),
        pass: Box::new(move || {
            for failure in &failures {
                black_box(classify(black_box(failure), Timestamp::UNIX_EPOCH));
            }
        }),
    }
}
