//! The conformance suite on every engine of this crate, and the loop over any engine.

use std::future::Future;

use super::conformance::{put, rollback_of, stored, with_cases};
use super::*;
use crate::fallback_override::persist_fallback;
use crate::testing::{at, entry, fallback, key};

#[rustfmt::skip]
mod json_file_store;

/// One test for each case, on an engine that the expression opens.
macro_rules! test_each {
    ($engine:expr; $($case:ident,)*) => {
        $(#[test]
        fn $case() {
            run(conformance::$case($engine));
        })*
    };
}

mod memory {
    use super::*;

    with_cases!(test_each, &MemorySessionStore::default());
}

mod json_file {
    use super::*;

    with_cases!(test_each, &JsonFileInTemporaryDirectory::new().store);
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use super::*;

    with_cases!(test_each, &SqliteInTemporaryDirectory::new().store);
}

struct JsonFileInTemporaryDirectory {
    store: json_file_store::JsonFileStore,
    directory: tempfile::TempDir,
}

impl JsonFileInTemporaryDirectory {
    fn new() -> Self {
        let directory = tempfile::TempDir::new().unwrap();
        let store = json_file_store::JsonFileStore::new(directory.path().join("sessions.json"));
        Self { store, directory }
    }
}

#[test]
fn the_whole_suite_is_one_function() {
    run(conformance::check(MemorySessionStore::default));
}

#[test]
fn the_readme_shows_the_engine_that_is_tested() {
    let source = include_str!("tests/json_file_store.rs");
    let shown = source.lines().skip(3).collect::<Vec<_>>().join("\n");
    assert!(include_str!("../../README.md").contains(&shown));
}

#[test]
fn f_52_a_failure_of_another_engine_keeps_its_source() {
    let engine = JsonFileInTemporaryDirectory::new();
    std::fs::write(engine.directory.path().join("sessions.json"), "{").unwrap();
    let error = run(engine.store.load(&key("k"))).unwrap_err();
    assert!(matches!(error, StoreError::Engine(_)), "{error:?}");
    assert_eq!(
        error.to_string(),
        "the engine of the session store failed; see its cause, and try again"
    );
    let source = std::error::Error::source(&error).unwrap();
    assert!(source.to_string().starts_with("EOF while parsing"), "{source}");
}

#[cfg(feature = "sqlite")]
struct SqliteInTemporaryDirectory {
    store: crate::store::sqlite::SqliteSessionStore,
    _directory: tempfile::TempDir,
}

#[cfg(feature = "sqlite")]
impl SqliteInTemporaryDirectory {
    fn new() -> Self {
        let directory = tempfile::TempDir::new().unwrap();
        let file = directory.path().join("openclaw-sessions.sqlite");
        Self {
            store: crate::store::sqlite::SqliteSessionStore::open(&file).unwrap(),
            _directory: directory,
        }
    }
}

fn run<T>(case: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(case)
}

/// Reads work, writes do not.
struct ReadOnly(MemorySessionStore);

impl SessionStore for ReadOnly {
    async fn load(&self, key: &SessionKey) -> Result<Option<VersionedEntry>, StoreError> {
        self.0.load(key).await
    }

    async fn compare_and_set(
        &self,
        _: &SessionKey,
        _: Revision,
        _: SessionEntry,
    ) -> Result<CasOutcome, StoreError> {
        Err(StoreError::Closed)
    }

    fn enqueue_rollback(&self, key: &SessionKey, rollback: Rollback, now: Timestamp) {
        self.0.enqueue_rollback(key, rollback, now);
    }

    async fn list(&self) -> Result<Vec<(SessionKey, VersionedEntry)>, StoreError> {
        self.0.list().await
    }
}

#[test]
fn s_3_7_and_hazard_8_a_failed_write_leaves_no_choice_behind_and_is_told() {
    run(async {
        let memory = MemorySessionStore::default();
        let read = entry("");
        put(&memory, "k", read.clone()).await;
        let store = ReadOnly(memory);
        let change = fallback(&read, "home/m", "a/f1");
        let mut rollback = None;
        let failed = update(&store, &key("k"), |entry| {
            let (next, persisted) = persist_fallback(entry.unwrap(), &change, at(2000));
            rollback = Some(rollback_of(persisted));
            (next, ())
        })
        .await;
        assert!(failed.is_err());
        // The attempt goes on; taking back what was never written is harmless.
        store.enqueue_rollback(&key("k"), rollback.unwrap(), at(3000));
        assert_eq!(stored(&store, "k").await, read);
    });
}
