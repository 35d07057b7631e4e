//! The smallest request that shows whether a model answers.

use serde_json::{Value, json};

use crate::format::WireFormat;

/// The smallest request in a format that shows whether a model answers, as a stream.
pub fn smallest_request(wire: WireFormat, model: &str) -> Value {
    const QUESTION: &str = "Answer with the one word OK.";
    let messages = json!([{"role": "user", "content": QUESTION}]);
    match wire {
        WireFormat::ChatCompletions | WireFormat::Embeddings => {
            json!({"model": model, "stream": true, "messages": messages})
        }
        WireFormat::CountTokens | WireFormat::Messages => {
            json!({"model": model, "stream": true, "max_tokens": 16, "messages": messages})
        }
        WireFormat::Responses => {
            json!({"model": model, "stream": true, "store": false, "instructions": QUESTION,
            "input": [{"role": "user", "content": [{"type": "input_text", "text": QUESTION}]}]})
        }
    }
}
