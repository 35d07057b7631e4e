//! Wire shapes seen in the wild, one per line.

use super::*;

#[test]
fn what_the_first_content_of_a_stream_is() {
    for (data, shows) in [
        (
            r#"{"choices":[{"index":0,"delta":{"role":"assistant"}}]}"#,
            Shows::Nothing,
        ),
        (
            r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#,
            Shows::Nothing,
        ),
        (
            r#"{"choices":[{"index":0,"delta":{"content":null}}]}"#,
            Shows::Nothing,
        ),
        (r#"{"choices":[{"index":0,"delta":{}}]}"#, Shows::Nothing),
        (r#"{"choices":[{"index":0}]}"#, Shows::Nothing),
        (r#"{"choices":[{"delta":{"content":"a"}}]}"#, Shows::Answer),
        (r#"{"choices":[{"delta":{"content":" "}}]}"#, Shows::Answer),
        (r#"{"choices":[{"delta":{"refusal":"no"}}]}"#, Shows::Answer),
        (
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":""}}]}}]}"#,
            Shows::Answer,
        ),
        (r#"{"choices":[{"delta":{"tool_calls":[]}}]}"#, Shows::Nothing),
        (
            r#"{"choices":[{"delta":{"function_call":{"name":"f"}}}]}"#,
            Shows::Answer,
        ),
        (
            r#"{"choices":[{"delta":{"reasoning_content":"hm"}}]}"#,
            Shows::Thinking,
        ),
        (
            r#"{"choices":[{"delta":{"reasoning":"hm","content":""}}]}"#,
            Shows::Thinking,
        ),
        (
            r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
            Shows::Nothing,
        ),
        (
            r#"{"choices":[{"delta":{},"finish_reason":"content_filter"}]}"#,
            Shows::Answer,
        ),
        (r#"{"choices":[{"text":"a"}]}"#, Shows::Answer),
    ] {
        let Piece::Deltas(deltas) = read_piece(None, data.as_bytes()) else {
            panic!("{data}");
        };
        assert_eq!(deltas[0].shows, shows, "{data}");
    }
}

#[test]
fn pieces_without_choices_and_errors() {
    for (name, data, expected) in [
        (None, "[DONE]", Piece::End(Shows::Nothing)),
        (None, " [DONE] ", Piece::End(Shows::Nothing)),
        (None, "", Piece::Other),
        (None, "{}", Piece::Other),
        (None, r#"{"choices":[],"usage":{"total_tokens":3}}"#, Piece::Other),
        (Some(&b"ping"[..]), r#"{"type":"ping"}"#, Piece::Other),
        (None, r#"{"error":{"message":"busy"}}"#, Piece::Error),
        (None, r#"{"error":"busy"}"#, Piece::Error),
        (None, r#"{"error":null,"choices":[]}"#, Piece::Other),
        (
            None,
            r#"{"error":false,"usage":{"total_tokens":3}}"#,
            Piece::Other,
        ),
        (None, r#"{"error":{},"choices":[]}"#, Piece::Other),
        (None, r#"{"error":"","choices":[]}"#, Piece::Other),
        (
            None,
            r#"{"error":{"message":"","code":0},"choices":[]}"#,
            Piece::Other,
        ),
        (None, r#"{"error":{"message":"busy"},"choices":[]}"#, Piece::Error),
        (None, r#"{"error":true,"choices":[]}"#, Piece::Error),
        (None, r#"{"error":{}}"#, Piece::Error),
        (None, r#"{"type":"error","message":"busy"}"#, Piece::Error),
        (Some(b"error"), r#"{"message":"busy"}"#, Piece::Error),
        (
            None,
            r#"{"choices":[{"delta":{"content":""},"finish_reason":"error"}]}"#,
            Piece::Error,
        ),
        (None, r#"{"choices":[{"error":{"code":502}}]}"#, Piece::Error),
        (Some(b"error"), "upstream connect error", Piece::Error),
        (None, "upstream connect error", Piece::Malformed),
        (None, r#"{"choices":[{"delta":{"content":"tru"#, Piece::Malformed),
    ] {
        assert_eq!(read_piece(name, data.as_bytes()), expected, "{data}");
    }
}

#[test]
fn arguments_and_ends_are_told_per_choice() {
    let data = r#"{"choices":[
        {"index":1,"delta":{"tool_calls":[{"index":2,"function":{"arguments":"{\"a\""}},{"function":{"arguments":"x"}}]}},
        {"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#;
    let Piece::Deltas(deltas) = read_piece(None, data.as_bytes()) else {
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
        (r#"{"choices":[{"message":{"content":"hi"}}]}"#, Whole::Answer),
        (
            r#"{"choices":[{"message":{"content":[{"type":"text","text":"hi"}]}}]}"#,
            Whole::Answer,
        ),
        (
            r#"{"choices":[{"message":{"content":null,"tool_calls":[{"id":"c"}]}}]}"#,
            Whole::Answer,
        ),
        (
            r#"{"choices":[{"message":{"content":null,"refusal":"no"}}]}"#,
            Whole::Answer,
        ),
        (
            r#"{"choices":[{"message":{"content":""},"finish_reason":"content_filter"}]}"#,
            Whole::Answer,
        ),
        (
            r#"{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}"#,
            Whole::Empty,
        ),
        (r#"{"choices":[{"message":{"content":null}}]}"#, Whole::Empty),
        (
            r#"{"choices":[{"message":{"content":"","reasoning":"hm"}}]}"#,
            Whole::Empty,
        ),
        (r#"{"choices":[]}"#, Whole::Empty),
        (
            r#"{"choices":[{"message":{"content":""},"finish_reason":"error"}]}"#,
            Whole::Error,
        ),
        (r#"{"error":{"message":"busy"}}"#, Whole::Error),
        (
            r#"{"error":null,"choices":[{"message":{"content":"hi"}}]}"#,
            Whole::Answer,
        ),
        (
            r#"{"error":false,"choices":[{"message":{"content":"hi"}}]}"#,
            Whole::Answer,
        ),
        (
            r#"{"error":{},"choices":[{"error":"","message":{"content":"hi"}}]}"#,
            Whole::Answer,
        ),
        (
            r#"{"error":"busy","choices":[{"message":{"content":"hi"}}]}"#,
            Whole::Error,
        ),
        (r#"{"error":{}}"#, Whole::Unreadable),
        (r#"{"message":"hello"}"#, Whole::Unreadable),
        ("<html>busy</html>", Whole::Unreadable),
        ("", Whole::Unreadable),
        ("[]", Whole::Unreadable),
    ] {
        assert_eq!(read_whole(body.as_bytes()), expected, "{body}");
    }
}
