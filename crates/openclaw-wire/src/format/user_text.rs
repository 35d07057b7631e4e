//! The text of the last message of a conversation.

use serde_json::Value;

/// Where that text is in a request.
pub(super) struct UserTextPath {
    /// The member that holds the messages.
    pub(super) messages: &'static str,
    /// The type of a part that is a text.
    pub(super) part: &'static str,
}

impl UserTextPath {
    /// The text, when the last message is one of the user's and nothing but one text.
    pub(super) fn last<'r>(&self, request: &'r Value) -> Option<&'r str> {
        let message = match request.get(self.messages)? {
            // A response's input may be a single text of the user's.
            Value::String(text) => return Some(text),
            Value::Array(messages) => messages.last()?,
            Value::Bool(_) | Value::Null | Value::Number(_) | Value::Object(_) => return None,
        };
        let is_message = message.get("type").is_none_or(|kind| kind == "message");
        if !is_message || message.get("role")? != "user" {
            return None;
        }
        match message.get("content")? {
            Value::String(text) => Some(text),
            Value::Array(parts) => match parts.as_slice() {
                [only] if only.get("type")? == self.part => only.get("text")?.as_str(),
                _ => None,
            },
            Value::Bool(_) | Value::Null | Value::Number(_) | Value::Object(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::format::WireFormat;

    #[test]
    fn only_the_users_last_text_alone_is_typed() {
        let user = |content: Value| json!([{"role": "user", "content": "/new"}, {"role": "user", "content": content}]);
        let text = |kind: &str| json!([{"type": kind, "text": "/status"}]);
        for (wire, messages, typed) in [
            (WireFormat::ChatCompletions, user("/status".into()), true),
            (WireFormat::ChatCompletions, user(text("text")), true),
            (WireFormat::ChatCompletions, user(text("input_text")), false),
            (
                WireFormat::ChatCompletions,
                user(json!([{"type": "text", "text": "/status"}, {"type": "image_url"}])),
                false,
            ),
            (
                WireFormat::ChatCompletions,
                json!([{"role": "assistant", "content": "/status"}]),
                false,
            ),
            (
                WireFormat::ChatCompletions,
                json!([{"role": "user", "content": "/status"}, {"role": "tool", "content": "x"}]),
                false,
            ),
            (WireFormat::ChatCompletions, json!([]), false),
            (
                WireFormat::ChatCompletions,
                json!({"role": "user", "content": "/status"}),
                false,
            ),
            (WireFormat::Messages, user("/status".into()), true),
            (WireFormat::Messages, user(text("text")), true),
            (WireFormat::Responses, json!("/status"), true),
            (WireFormat::Responses, user("/status".into()), true),
            (WireFormat::Responses, user(text("input_text")), true),
            (
                WireFormat::Responses,
                json!([{"type": "message", "role": "user", "content": "/status"}]),
                true,
            ),
            (
                WireFormat::Responses,
                json!([{"type": "function_call_output", "role": "user", "content": "/status"}]),
                false,
            ),
            (WireFormat::Embeddings, json!("/status"), false),
            (WireFormat::CountTokens, user("/status".into()), false),
        ] {
            let member = if wire == WireFormat::Responses || wire == WireFormat::Embeddings {
                "input"
            } else {
                "messages"
            };
            let body = json!({ member: messages });
            assert_eq!(
                wire.last_user_text(&body),
                typed.then_some("/status"),
                "{wire:?} {body}"
            );
        }
    }
}
