//! The example of an engine of one's own keeps every promise of an engine, and is the one that the README shows.

#[expect(
    dead_code,
    unreachable_pub,
    reason = "the example is a program, of which the engine is tested here"
)]
#[path = "../examples/json_file_store.rs"]
mod json_file_store;

use json_file_store::JsonFileStore;
use openclaw_auth_store::{AuthSnapshot, StoreError, StoredSnapshot, UsageStore, conformance};
use openclaw_cooldown::CooldownConfig;

#[tokio::test]
async fn the_json_file_store_conforms_and_reads_back_what_it_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("auth.json");
    let open = || JsonFileStore::open(path.clone(), CooldownConfig::default());
    let store = open().unwrap();
    conformance::check(&store).await;
    assert_eq!(*open().unwrap().snapshot(), *store.snapshot());

    let stored: StoredSnapshot = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(AuthSnapshot::from(stored), *store.snapshot());
    std::fs::write(&path, "no JSON").unwrap();
    let error = open().unwrap_err();
    assert!(matches!(error, StoreError::Engine { .. }), "{error:?}");
}

#[test]
fn the_readme_shows_the_example() {
    let example = include_str!("../examples/json_file_store.rs");
    let engine = &example[example.find("use std::fs;").unwrap()..example.find("#[tokio::main").unwrap()];
    assert!(include_str!("../README.md").contains(engine.trim()));
}
