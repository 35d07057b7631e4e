//! The wall over real sockets.

use tokio::io::AsyncReadExt;

use super::*;

/// Everything that one request brings, and whether the connection ended properly.
async fn ask(wall: &Wall, line: &str, body: &str) -> (String, bool) {
    let mut stream = TcpStream::connect(wall.address()).await.unwrap();
    let request = format!("{line} HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    let whole = stream.read_to_end(&mut bytes).await.is_ok();
    (String::from_utf8(bytes).unwrap(), whole)
}

async fn ask_for(wall: &Wall, upstream: &str, model: &str) -> (String, bool) {
    let line = format!("POST /{upstream}/v1/chat/completions");
    ask(wall, &line, &format!(r#"{{"model":"{model}","stream":true}}"#)).await
}

#[tokio::test]
async fn the_model_or_else_the_upstream_names_the_fault() {
    let wall = Wall::start().await.unwrap();
    for (upstream, model, expected) in [
        ("a", "ok", "token.4 "),
        ("a", "status-429-after-7", "retry-after: 7"),
        ("status-503", "gpt", "503"),
        ("status-503", "ok", "[DONE]"),
        ("a", "gpt", "[DONE]"),
    ] {
        let (answer, whole) = ask_for(&wall, upstream, model).await;
        assert!(answer.contains(expected) && whole, "{upstream} {model}: {answer}");
    }
    assert_eq!(
        ask_for(&wall, "a", "reset-before-head").await,
        (String::new(), false)
    );
    let (answer, _) = ask_for(&wall, "a", "cut-after-2").await;
    assert!(
        answer.contains("token.1 ") && !answer.contains("token.2 "),
        "{answer}"
    );
}

#[tokio::test]
async fn once_is_once_for_each_upstream() {
    let wall = Wall::start().await.unwrap();
    for (upstream, expected) in [("a", "503"), ("b", "503"), ("a", "[DONE]")] {
        let (answer, _) = ask_for(&wall, upstream, "status-503-once").await;
        assert!(answer.contains(expected), "{upstream}: {answer}");
    }
    assert_eq!((wall.seen("a").len(), wall.calls()), (2, 3));
}

#[tokio::test]
async fn what_was_seen_is_told_without_keys() {
    let wall = Wall::start().await.unwrap();
    let line = "POST /a/v1/messages HTTP/1.1\r\nx-api-key: secret\r\nx:";
    ask(&wall, line, r#"{"model":"empty"}"#).await;
    let (record, _) = ask(&wall, "GET /seen", "").await;
    let row = r#"[{"upstream":"a","path":"messages","model":"empty","stream":false}]"#;
    assert!(record.ends_with(row) && !record.contains("secret"), "{record}");
    assert_eq!(wall.seen("a")[0].key(), Some("secret"));
    wall.left_alone().await;
}
