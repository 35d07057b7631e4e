//! The demo, as a person runs it: the binary, its three requests, its story.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::world::{Received, client};

#[tokio::test]
async fn the_demo_tells_the_whole_story_and_stops_when_asked() {
    let mut demo = Command::new(env!("CARGO_BIN_EXE_openclaw-gateway"))
        .args(["serve", "--demo", "--bind", "127.0.0.1:0"])
        .env_clear()
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(demo.stdout.take().unwrap()).lines();
    let listening = lines
        .find_map(|line| line.unwrap().strip_prefix("Listening on ").map(str::to_owned))
        .unwrap();
    let url = format!("{}/chat/completions", listening.split(". ").next().unwrap());
    let ask = |model: &str, stream: bool| {
        let body = json!({"model": model, "stream": stream, "messages": [{"role": "user", "content": "Hi"}]});
        let request = client().post(&url).header("content-type", "application/json");
        Received::of(request.body(body.to_string()))
    };
    let plain = ask("openclaw", false).await;
    assert_eq!(
        (plain.status, plain.header("x-openclaw-served-model")),
        (200, Some("steady/large"))
    );
    let streamed = ask("openclaw/streaming", true).await;
    assert!(streamed.body.ends_with("data: [DONE]\n\n"), "{}", streamed.body);
    let doomed = ask("openclaw/doomed", false).await;
    assert_eq!(doomed.status, 503);
    assert_eq!(doomed.json()["error"]["attempts"].as_array().unwrap().len(), 2);
    let again = ask("openclaw", false).await;
    assert_eq!(again.header("x-openclaw-attempts"), Some("1"));

    let stopped = Command::new("kill").arg(demo.id().to_string()).status().unwrap();
    assert!(stopped.success());
    let lines = lines
        .map(Result::unwrap)
        .skip_while(|line| !line.starts_with("request "));
    let story: Vec<String> = lines.collect();
    let ids = [&plain, &streamed, &doomed, &again]
        .map(|received| received.header("x-openclaw-request-id").unwrap());
    let story = ids
        .iter()
        .enumerate()
        .fold(story.join("\n"), |story, (position, id)| {
            story.replace(id, &format!("<{}>", position + 1))
        });
    insta::assert_snapshot!("story", story);
    let ended = demo.wait_with_output().unwrap();
    let logged = String::from_utf8(ended.stderr).unwrap();
    assert!(ended.status.success(), "{logged}");
    // It removes its state last, so that nothing warns of files that are gone with it.
    for line in logged.lines() {
        assert!(line.contains("no answer"), "{logged}");
    }
}
