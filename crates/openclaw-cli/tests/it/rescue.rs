//! `stream.rescue`: what becomes of a stream that breaks off after its first content.

use faultwall::{Wall, Wire};
use serde_json::json;

use crate::world::{Received, World, client};

/// The upstreams in the order of the chain.
const NAMES: [&str; 3] = ["a", "b", "c"];
/// What a good answer says.
const TEXT: &str = "token.0 token.1 token.2 token.3 token.4 ";

/// A gateway whose chain meets these faults.
struct Rescued {
    world: World,
    wall: Wall,
    wire: Wire,
}

impl Rescued {
    async fn start(rescue: &str, wire: Wire, faults: &[&str]) -> Self {
        let wall = Wall::start().await.unwrap();
        let names = NAMES.iter().zip(faults);
        let rows = names.clone().map(|(name, _)| {
            let (url, api) = (wall.base_url(name), wire.api());
            format!("{name}: {{ baseUrl: '{url}', apiKey: 'key-{name}', api: '{api}' }}, ")
        });
        let models: Vec<String> = names.map(|(name, fault)| format!("'{name}/{fault}'")).collect();
        let text = format!(
            "{{ agents: {{ defaults: {{ model: {{ primary: {}, fallbacks: [{}] }} }} }}, models: {{ providers: {{ {} }} }} }}",
            models[0],
            models[1..].join(", "),
            rows.collect::<String>(),
        );
        // Only a stall waits for this, and only where one is expected may a slow machine look like one.
        let stalls = faults.iter().any(|fault| fault.starts_with("stall"));
        let idle = if stalls { 1_000 } else { 60_000 };
        let own =
            format!("{{ stream: {{ rescue: '{rescue}' }}, deadlines: {{ all: {{ idleMs: {idle} }} }} }}");
        let world = World::open_under(&own, Vec::new(), &text, &[]).await;
        Self { world, wall, wire }
    }

    async fn ask(&self) -> Received {
        let body = match self.wire {
            Wire::Responses => json!({"model": "openclaw", "stream": true, "input": "Say."}),
            Wire::ChatCompletions | Wire::Messages => {
                json!({"model": "openclaw", "stream": true, "max_tokens": 9, "messages": [{"role": "user", "content": "Say."}]})
            }
        };
        let url = self.world.url(&format!("/v1/{}", self.wire.path()));
        let request = client().post(url).header("content-type", "application/json");
        Received::of(request.body(body.to_string())).await
    }

    fn text(&self, received: &Received) -> Result<String, String> {
        self.wire.text_of(&received.body, true)
    }

    fn calls(&self) -> [usize; 3] {
        NAMES.map(|name| self.wall.seen(name).len())
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_spliced_with_an_answer_that_repeats_it() {
    for wire in Wire::ALL {
        for (faults, calls) in [
            (&["cut-after-2", "ok"] as &[&str], [1, 1, 0]),
            (&["stall-after-3", "ok"], [1, 1, 0]),
            (&["error-after-1", "ok"], [1, 1, 0]),
            (&["no-end", "ok"], [1, 1, 0]),
            (&["cut-after-2", "in-one-piece"], [1, 1, 0]),
            (&["cut-after-2", "status-503", "ok"], [1, 1, 1]),
            (&["cut-after-2", "cut-after-4", "ok"], [1, 1, 1]),
            (&["cut-after-4", "cut-after-2", "ok"], [1, 1, 1]),
        ] {
            let rescued = Rescued::start("splice", wire, faults).await;
            let received = rescued.ask().await;
            assert_eq!(
                rescued.text(&received).as_deref(),
                Ok(TEXT),
                "{wire:?} {faults:?}"
            );
            assert_eq!(
                received.body.matches("token.0 ").count(),
                count_of_first(wire),
                "{}",
                received.body
            );
            assert!(received.body.contains(" takes over\n\n"), "{}", received.body);
            assert_eq!(rescued.calls(), calls, "{wire:?} {faults:?}");
            let served = format!("a/{}", faults[0]);
            assert_eq!(received.header("x-openclaw-served-model"), Some(served.as_str()));
            // The break was marked, so the next request passes the model over.
            let next = rescued.ask().await;
            assert_ne!(
                next.header("x-openclaw-served-model"),
                Some(served.as_str()),
                "{wire:?} {faults:?}"
            );
        }
    }
}

/// How often the first token stands in a good stream: responses repeat the whole text at their end.
fn count_of_first(wire: Wire) -> usize {
    match wire {
        Wire::ChatCompletions | Wire::Messages => 1,
        Wire::Responses => 5,
    }
}

#[tokio::test]
async fn bl_94_what_cannot_be_spliced_ends_with_the_first_failure() {
    for wire in Wire::ALL {
        for (rescue, faults, calls) in [
            ("off", &["error-after-2", "ok"] as &[&str], [1, 0, 0]),
            ("splice", &["error-after-2"], [1, 0, 0]),
            ("splice", &["error-after-2", "other"], [1, 1, 0]),
            ("splice", &["error-after-2", "status-400"], [1, 1, 0]),
            ("splice", &["error-after-2", "cut-after-3"], [1, 1, 0]),
            ("splice", &["error-after-2", "empty", "other"], [1, 1, 1]),
        ] {
            let rescued = Rescued::start(rescue, wire, faults).await;
            let received = rescued.ask().await;
            let shown = format!("{rescue} {wire:?} {faults:?} {}", received.body);
            assert!(received.whole && rescued.text(&received).is_err(), "{shown}");
            assert!(received.body.contains("the answer broke off: "), "{shown}");
            assert!(received.body.contains("overloaded"), "{shown}");
            assert!(!received.body.contains("other."), "{shown}");
            assert_eq!(rescued.calls(), calls, "{shown}");
        }
    }
}

#[tokio::test]
async fn a_buffered_stream_that_breaks_off_was_never_seen() {
    for wire in Wire::ALL {
        for (faults, served, calls) in [
            (&["ok"] as &[&str], "a/ok", [1, 0, 0]),
            (&["cut-after-2", "ok"], "b/ok", [1, 1, 0]),
            (&["stall-after-2", "other"], "b/other", [1, 1, 0]),
            (&["no-end", "error-after-2", "ok"], "c/ok", [1, 1, 1]),
        ] {
            let rescued = Rescued::start("buffered", wire, faults).await;
            let received = rescued.ask().await;
            let text = rescued.text(&received).unwrap();
            assert_eq!(
                text.split('.').next(),
                Some(if served == "b/other" { "other" } else { "token" })
            );
            assert_eq!(
                received.header("x-openclaw-served-model"),
                Some(served),
                "{wire:?} {faults:?}"
            );
            assert_eq!(rescued.calls(), calls, "{wire:?} {faults:?}");
        }
        let rescued = Rescued::start("buffered", wire, &["cut-after-2"]).await;
        let received = rescued.ask().await;
        assert_eq!(
            (received.status, received.header("content-type")),
            (503, Some("application/json"))
        );
    }
}

#[tokio::test]
async fn a_client_that_leaves_during_a_rescue_hangs_up_on_everybody() {
    let rescued = Rescued::start("splice", Wire::ChatCompletions, &["cut-after-2", "silence"]).await;
    let body = json!({"model": "openclaw", "stream": true, "messages": []}).to_string();
    let request = client()
        .post(rescued.world.url("/v1/chat/completions"))
        .body(body);
    let mut response = request
        .header("content-type", "application/json")
        .send()
        .await
        .unwrap();
    let mut seen = String::new();
    while !seen.contains("token.1 ") {
        seen += std::str::from_utf8(&response.chunk().await.unwrap().unwrap()).unwrap();
    }
    while rescued.calls() != [1, 1, 0] {
        tokio::task::yield_now().await;
    }
    drop(response);
    rescued.wall.left_alone().await;
}
