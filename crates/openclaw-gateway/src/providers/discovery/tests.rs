//! What is found, and how it is told.

use std::path::Path;

use axum::http::HeaderValue;
use faultwall::scripted::{Script, Upstream as Scripted};

use super::*;

fn keys(names: &[&str]) -> Environment {
    Environment::of(names.iter().map(|name| (*name, "key")), Path::new("/"))
}

fn chain(discovery: &Discovery) -> Vec<String> {
    discovery.chain().map(ToString::to_string).collect()
}

#[test]
fn a_chain_of_everything_that_can_be_called() {
    let models = ["qwen3.5:27b".to_owned(), "gemma".to_owned()];
    let stored = BTreeSet::from([
        ProviderId::try_new("mistral").unwrap(),
        ProviderId::try_new("acme").unwrap(),
    ]);
    let environment = keys(&["OPENROUTER_API_KEY", "GOOGLE_API_KEY", "NVIDIA_API_KEY"]);
    let discovery = discover(&environment, &stored, Some(&models));
    assert_eq!(
        chain(&discovery),
        [
            "google/gemini-3.1-pro-preview",
            "openrouter/auto",
            "mistral/mistral-large-latest",
            "ollama/qwen3.5:27b"
        ]
    );
    insta::assert_snapshot!("found", discovery);
}

#[test]
fn nothing_found_says_what_to_do() {
    let blank = Environment::of([("OPENAI_API_KEY", " ")], Path::new("/"));
    let discovery = discover(&blank, &BTreeSet::new(), None);
    assert_eq!(chain(&discovery), [""; 0]);
    insta::assert_snapshot!("nothing", discovery);
}

#[test]
fn an_ollama_without_models_is_told_but_not_called() {
    let discovery = discover(&keys(&[]), &BTreeSet::new(), Some(&[]));
    assert_eq!(chain(&discovery), [""; 0]);
    insta::assert_snapshot!("empty_ollama", discovery);
}

#[tokio::test]
async fn ollama_is_asked_for_its_models() {
    let tags = r#"{"models":[{"name":"a:1","size":3},{"name":"b"}]}"#;
    for (script, expected) in [
        (
            Script::json(200, tags),
            Some(vec!["a:1".to_owned(), "b".to_owned()]),
        ),
        (Script::json(200, "{\"models\":[]}"), Some(vec![])),
        (Script::json(404, tags), None),
        (Script::reply(200, &[], "<html>"), None),
        (Script::reset(), None),
        (Script::silence(), None),
    ] {
        let server = Scripted::start([script]).await;
        let endpoint = Endpoint::try_new(ProviderId::try_new(OLLAMA).unwrap(), &server.base_url()).unwrap();
        let models = ollama_models(&Upstream::new(HeaderValue::from_static("test")), &endpoint).await;
        assert_eq!(models, expected);
        assert!(server.seen()[0].head.starts_with("GET /api/tags "));
    }
}
