//! An answer that no model gave, in the shape of a format, whole or as a stream.

/// What such an answer says, and as whose answer.
#[derive(Debug, Clone, Copy)]
pub struct SyntheticAnswer<'a> {
    /// Names the answer.
    pub id: &'a str,
    /// The model as the client asked for it.
    pub model: &'a str,
    /// Unix seconds.
    pub created: i64,
    /// The text of the answer.
    pub text: &'a str,
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::format::WireFormat;

    const ANSWER: SyntheticAnswer<'_> = SyntheticAnswer {
        id: "oc-1",
        model: "openclaw",
        created: 1_700_000_000,
        text: "🧠 Model: \"a/m\"\nsecond line",
    };

    #[test]
    fn each_format_says_it_in_its_own_shape() {
        for (name, format) in [
            ("chat", WireFormat::ChatCompletions),
            ("messages", WireFormat::Messages),
            ("responses", WireFormat::Responses),
        ] {
            let whole: Value = serde_json::from_str(&format.synthetic_body(&ANSWER).unwrap()).unwrap();
            let events = String::from_utf8(format.synthetic_stream(&ANSWER).unwrap()).unwrap();
            insta::assert_snapshot!(name, format!("{whole:#}\n\n{events}"));
        }
    }

    #[test]
    fn only_conversations_are_answered() {
        for (wire, is) in [
            (WireFormat::ChatCompletions, true),
            (WireFormat::CountTokens, false),
            (WireFormat::Embeddings, false),
            (WireFormat::Messages, true),
            (WireFormat::Responses, true),
        ] {
            assert_eq!(wire.synthetic_body(&ANSWER).is_some(), is, "{wire:?}");
            assert_eq!(wire.synthetic_stream(&ANSWER).is_some(), is, "{wire:?}");
        }
    }
}
