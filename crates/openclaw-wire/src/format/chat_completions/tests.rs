//! Wire shapes seen in the wild, one per line.

use super::*;

#[test]
fn what_the_first_content_of_a_stream_is() {
    for (data, shows) in [
        (
            r#"{"choices":[{"index":0,"delta":{"role":"assistant"}}]}"#,
            ContentKind::Nothing,
        ),
        (
            r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#,
            ContentKind::Nothing,
        ),
        (
            r#"{"choices":[{"index":0,"delta":{"content":null}}]}"#,
            ContentKind::Nothing,
        ),
        (r#"{"choices":[{"index":0,"delta":{}}]}"#, ContentKind::Nothing),
        (r#"{"choices":[{"index":0}]}"#, ContentKind::Nothing),
        (r#"{"choices":[{"delta":{"content":"a"}}]}"#, ContentKind::Answer),
        (r#"{"choices":[{"delta":{"content":" "}}]}"#, ContentKind::Answer),
        (r#"{"choices":[{"delta":{"refusal":"no"}}]}"#, ContentKind::Answer),
        (
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":""}}]}}]}"#,
            ContentKind::Answer,
        ),
        (
            r#"{"choices":[{"delta":{"tool_calls":[]}}]}"#,
            ContentKind::Nothing,
        ),
        (
            r#"{"choices":[{"delta":{"function_call":{"name":"f"}}}]}"#,
            ContentKind::Answer,
        ),
        (
            r#"{"choices":[{"delta":{"reasoning_content":"hm"}}]}"#,
            ContentKind::Thinking,
        ),
        (
            r#"{"choices":[{"delta":{"reasoning":"hm","content":""}}]}"#,
            ContentKind::Thinking,
        ),
        (
            r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
            ContentKind::Nothing,
        ),
        (
            r#"{"choices":[{"delta":{},"finish_reason":"content_filter"}]}"#,
            ContentKind::Answer,
        ),
        (r#"{"choices":[{"text":"a"}]}"#, ContentKind::Answer),
    ] {
        let StreamEvent::Deltas(deltas) = read_event(None, data.as_bytes()) else {
            panic!("{data}");
        };
        assert_eq!(deltas[0].content, shows, "{data}");
    }
}

#[test]
fn pieces_without_choices_and_errors() {
    for (name, data, expected) in [
        (None, "[DONE]", StreamEvent::End(ContentKind::Nothing)),
        (None, " [DONE] ", StreamEvent::End(ContentKind::Nothing)),
        (None, "", StreamEvent::Other),
        (None, "{}", StreamEvent::Other),
        (
            None,
            r#"{"choices":[],"usage":{"total_tokens":3}}"#,
            StreamEvent::Other,
        ),
        (Some(&b"ping"[..]), r#"{"type":"ping"}"#, StreamEvent::Other),
        (None, r#"{"error":{"message":"busy"}}"#, StreamEvent::Error),
        (None, r#"{"error":"busy"}"#, StreamEvent::Error),
        (None, r#"{"error":null,"choices":[]}"#, StreamEvent::Other),
        (
            None,
            r#"{"error":false,"usage":{"total_tokens":3}}"#,
            StreamEvent::Other,
        ),
        (None, r#"{"error":{},"choices":[]}"#, StreamEvent::Other),
        (None, r#"{"error":"","choices":[]}"#, StreamEvent::Other),
        (
            None,
            r#"{"error":{"message":"","code":0},"choices":[]}"#,
            StreamEvent::Other,
        ),
        (
            None,
            r#"{"error":{"message":"busy"},"choices":[]}"#,
            StreamEvent::Error,
        ),
        (None, r#"{"error":true,"choices":[]}"#, StreamEvent::Error),
        (None, r#"{"error":{}}"#, StreamEvent::Error),
        (None, r#"{"type":"error","message":"busy"}"#, StreamEvent::Error),
        (Some(b"error"), r#"{"message":"busy"}"#, StreamEvent::Error),
        (
            None,
            r#"{"choices":[{"delta":{"content":""},"finish_reason":"error"}]}"#,
            StreamEvent::Error,
        ),
        (
            None,
            r#"{"choices":[{"error":{"code":502}}]}"#,
            StreamEvent::Error,
        ),
        (Some(b"error"), "upstream connect error", StreamEvent::Error),
        (None, "upstream connect error", StreamEvent::Malformed),
        (
            None,
            r#"{"choices":[{"delta":{"content":"tru"#,
            StreamEvent::Malformed,
        ),
    ] {
        assert_eq!(read_event(name, data.as_bytes()), expected, "{data}");
    }
}

#[test]
fn arguments_and_ends_are_told_per_choice() {
    let data = r#"{"choices":[
        {"index":1,"delta":{"tool_calls":[{"index":2,"function":{"arguments":"{\"a\""}},{"function":{"arguments":"x"}}]}},
        {"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#;
    let StreamEvent::Deltas(deltas) = read_event(None, data.as_bytes()) else {
        panic!();
    };
    assert_eq!(deltas[0].choice, 1);
    assert_eq!(
        deltas[0].arguments,
        [(2, "{\"a\"".to_owned()), (1, "x".to_owned())]
    );
    assert!(!deltas[0].finished);
    assert!(deltas[1].finished && deltas[1].choice == 0);
}

#[test]
fn whole_bodies() {
    for (body, expected) in [
        (
            r#"{"choices":[{"message":{"content":"hi"}}]}"#,
            ResponseBody::Answer,
        ),
        (
            r#"{"choices":[{"message":{"content":[{"type":"text","text":"hi"}]}}]}"#,
            ResponseBody::Answer,
        ),
        (
            r#"{"choices":[{"message":{"content":null,"tool_calls":[{"id":"c"}]}}]}"#,
            ResponseBody::Answer,
        ),
        (
            r#"{"choices":[{"message":{"content":null,"refusal":"no"}}]}"#,
            ResponseBody::Answer,
        ),
        (
            r#"{"choices":[{"message":{"content":""},"finish_reason":"content_filter"}]}"#,
            ResponseBody::Answer,
        ),
        (
            r#"{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}"#,
            ResponseBody::Empty,
        ),
        (
            r#"{"choices":[{"message":{"content":null}}]}"#,
            ResponseBody::Empty,
        ),
        (
            r#"{"choices":[{"message":{"content":"","reasoning":"hm"}}]}"#,
            ResponseBody::Empty,
        ),
        (r#"{"choices":[]}"#, ResponseBody::Empty),
        (
            r#"{"choices":[{"message":{"content":""},"finish_reason":"error"}]}"#,
            ResponseBody::Error,
        ),
        (r#"{"error":{"message":"busy"}}"#, ResponseBody::Error),
        (
            r#"{"error":null,"choices":[{"message":{"content":"hi"}}]}"#,
            ResponseBody::Answer,
        ),
        (
            r#"{"error":false,"choices":[{"message":{"content":"hi"}}]}"#,
            ResponseBody::Answer,
        ),
        (
            r#"{"error":{},"choices":[{"error":"","message":{"content":"hi"}}]}"#,
            ResponseBody::Answer,
        ),
        (
            r#"{"error":"busy","choices":[{"message":{"content":"hi"}}]}"#,
            ResponseBody::Error,
        ),
        (r#"{"error":{}}"#, ResponseBody::Unreadable),
        (r#"{"message":"hello"}"#, ResponseBody::Unreadable),
        ("<html>busy</html>", ResponseBody::Unreadable),
        ("", ResponseBody::Unreadable),
        ("[]", ResponseBody::Unreadable),
    ] {
        assert_eq!(read_response(body.as_bytes()), expected, "{body}");
    }
}
