//! Reads embeddings: is there a vector?

use super::{Whole, is_error, is_filled};
use crate::partial_json::Sketch;

/// Reads a whole body.
pub(super) fn read_whole(body: &[u8]) -> Whole {
    let Some(answer) = Sketch::read(body) else {
        return Whole::Unreadable;
    };
    if is_error(&answer) {
        return Whole::Error;
    }
    let Some(data) = answer.get("data").and_then(Sketch::as_list) else {
        return Whole::Unreadable;
    };
    // A vector is a list of numbers, or their bytes in base64.
    if !data.is_empty() && data.iter().all(|row| is_filled(row.get("embedding"))) {
        Whole::Answer
    } else {
        Whole::Empty
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_input_needs_its_vector() {
        for (body, whole) in [
            (
                r#"{"data":[{"embedding":[0.1]},{"embedding":"AAA="}]}"#,
                Whole::Answer,
            ),
            (r#"{"data":[]}"#, Whole::Empty),
            (r#"{"data":[{"embedding":[0.1]},{"embedding":[]}]}"#, Whole::Empty),
            (r#"{"error":{"message":"m"}}"#, Whole::Error),
            (r#"{"object":"list"}"#, Whole::Unreadable),
            ("<html>", Whole::Unreadable),
        ] {
            assert_eq!(read_whole(body.as_bytes()), whole, "{body}");
        }
    }
}
