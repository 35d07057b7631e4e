//! The file: what survives, what is refused, what people read then.

use std::fs;

use rusqlite::Connection;
use tempfile::TempDir;

use super::*;
use crate::fallback_override::{PersistOutcome, persist_fallback};
use crate::store::update;
use crate::testing::{at, auto, entry, fallback, id, key, user};

/// A directory with a session file in it that may not exist yet.
struct Place {
    directory: TempDir,
}

impl Place {
    fn new() -> Self {
        Self {
            directory: TempDir::new().unwrap(),
        }
    }

    fn file(&self) -> PathBuf {
        self.directory
            .path()
            .join("agents/main/sessions/openclaw-sessions.sqlite")
    }

    fn sessions_json(&self) -> PathBuf {
        self.file().with_file_name("sessions.json")
    }

    fn write_sessions_json(&self, text: &str) {
        fs::create_dir_all(self.file().parent().unwrap()).unwrap();
        fs::write(self.sessions_json(), text).unwrap();
    }

    fn open(&self) -> SqliteSessionStore {
        SqliteSessionStore::open(&self.file()).unwrap()
    }

    fn refused(&self) -> OpenError {
        SqliteSessionStore::open(&self.file()).unwrap_err()
    }

    /// A second connection, as another program would have.
    fn raw(&self) -> Connection {
        Connection::open(self.file()).unwrap()
    }

    /// An error and its sources as people read them, without the temporary directory.
    fn shown(&self, error: &dyn std::error::Error) -> String {
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            text = format!("{text}\n  because {cause}");
            source = cause.source();
        }
        text.replace(self.directory.path().to_str().unwrap(), "<state>")
    }
}

async fn put(store: &SqliteSessionStore, name: &str, session: &SessionEntry) {
    update(store, &key(name), |_| (Some(session.clone()), ()))
        .await
        .unwrap();
}

async fn loaded(store: &SqliteSessionStore, name: &str) -> Option<SessionEntry> {
    store
        .load(&key(name))
        .await
        .unwrap()
        .map(|versioned| versioned.entry)
}

#[tokio::test]
async fn what_was_enqueued_is_finished_before_the_store_is_gone() {
    let place = Place::new();
    let store = place.open();
    let read = entry(r#""channel": {"kept": true}"#);
    put(&store, "k", &read).await;
    let change = fallback(&read, "home/m", "a/f1");
    let persisted = update(&store, &key("k"), |entry| {
        persist_fallback(entry.unwrap(), &change, at(2000))
    })
    .await;
    let Ok(PersistOutcome::Written(rollback)) = persisted else {
        panic!("{persisted:?}");
    };
    store.enqueue_rollback(&key("k"), rollback, at(3000));
    drop(store);
    let mut expected = read;
    expected.touch(at(3000));
    assert_eq!(loaded(&place.open(), "k").await, Some(expected));
}

#[tokio::test]
async fn many_writers_of_one_session_lose_nothing() {
    let place = Place::new();
    // Two stores on one file are two connections, as two processes have.
    let stores = [place.open(), place.open()];
    put(&stores[0], "k", &entry("")).await;
    let count = async |store: &SqliteSessionStore| {
        for _ in 0..50 {
            update(store, &key("k"), |entry| {
                let mut next = entry.unwrap().clone();
                next.compaction_count += 1;
                (Some(next), ())
            })
            .await
            .unwrap();
        }
    };
    tokio::join!(
        count(&stores[0]),
        count(&stores[1]),
        count(&stores[0]),
        count(&stores[1])
    );
    assert_eq!(loaded(&stores[0], "k").await.unwrap().compaction_count, 200);
}

#[tokio::test]
async fn s7_sessions_json_is_imported_once_and_left_alone() {
    let place = Place::new();
    let text = format!(r#"{{"k": {{"sessionId": "s1", {}}}, "odd": 5}}"#, user("a/m"));
    place.write_sessions_json(&text);
    let store = place.open();
    assert!(loaded(&store, "k").await.unwrap().is_user_pin());
    assert_eq!(loaded(&store, "odd").await, None);
    put(&store, "k", &entry("")).await;
    drop(store);
    assert_eq!(fs::read_to_string(place.sessions_json()).unwrap(), text);
    // The second use does not bring the imported state back.
    assert_eq!(loaded(&place.open(), "k").await, Some(entry("")));
}

#[tokio::test]
async fn s7_a_broken_sessions_json_stops_the_first_use_and_nothing_is_lost() {
    let place = Place::new();
    place.write_sessions_json(r#"{"k": {"sessionId": "s1""#);
    let error = place.refused();
    assert!(matches!(error, OpenError::ImportParse { .. }), "{error}");
    assert!(!place.file().exists(), "nothing looks as if it had been imported");
    place.write_sessions_json(r#"{"k": {"sessionId": "s1"}}"#);
    assert!(loaded(&place.open(), "k").await.is_some());
}

#[tokio::test]
async fn s7_a_look_tells_a_file_that_nobody_opened_from_one_without_sessions() {
    let place = Place::new();
    place.write_sessions_json(r#"{"k": {"sessionId": "s1"}}"#);
    let peek = || {
        SqliteSessionStore::snapshot(&place.file())
            .unwrap()
            .map(|found| found.len())
    };
    assert_eq!(peek(), None, "there is no file");
    fs::write(place.file(), "").unwrap();
    assert_eq!(peek(), None, "an empty file took nothing over");
    assert_eq!(fs::read(place.file()).unwrap(), b"", "a look changes nothing");
    drop(place.open());
    assert_eq!(peek(), Some(1));
    place.raw().execute("DELETE FROM sessions", []).unwrap();
    assert_eq!(peek(), Some(0), "it was taken over, and is not again");
}

#[tokio::test]
async fn s7_broken_characters_are_replaced_and_the_rest_is_imported() {
    let place = Place::new();
    place.write_sessions_json("");
    let text = [
        br#"{"k": {"sessionId": "s1", "label": ""#.as_slice(),
        b"\xff",
        br#""}}"#,
    ]
    .concat();
    fs::write(place.sessions_json(), &text).unwrap();
    let session = loaded(&place.open(), "k").await.unwrap();
    assert_eq!(session.unknown_member("label"), Some(&"\u{fffd}".into()));
    assert_eq!(fs::read(place.sessions_json()).unwrap(), text);
}

#[test]
fn a_file_that_is_no_database_stays_as_it_is() {
    let place = Place::new();
    place.write_sessions_json("{}");
    let text = "definitely not a database, but somebody's notes".repeat(100);
    fs::write(place.file(), &text).unwrap();
    let error = place.refused();
    assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
    assert_eq!(fs::read_to_string(place.file()).unwrap(), text);
}

#[tokio::test]
async fn a_broken_page_is_an_error_and_stays_as_it_is() {
    let place = Place::new();
    put(&place.open(), "k", &entry("")).await;
    let mut bytes = fs::read(place.file()).unwrap();
    let page = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    bytes[page..].fill(0xff);
    fs::write(place.file(), &bytes).unwrap();
    let store = place.open();
    let error = store.load(&key("k")).await.unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    let outcome = store.compare_and_set(&key("k"), Revision::NONE, entry("")).await;
    assert!(outcome.is_err(), "{outcome:?}");
    drop(store);
    assert_eq!(fs::read(place.file()).unwrap(), bytes);
}

#[tokio::test]
async fn s_4_4_a_damaged_entry_concerns_its_own_session_alone() {
    let place = Place::new();
    let store = place.open();
    put(&store, "k", &entry("")).await;
    put(&store, "other", &entry("")).await;
    let read = entry("");
    let change = fallback(&read, "home/m", "a/f1");
    let (_, PersistOutcome::Written(rollback)) = persist_fallback(&read, &change, at(2000)) else {
        panic!("not written");
    };
    let damaged = r#"{"sessionId": "s1", "#;
    let spoil = "UPDATE sessions SET entry_json = ?1 WHERE session_key = 'k'";
    place.raw().execute(spoil, [damaged]).unwrap();

    let error = store.load(&key("k")).await.unwrap_err();
    insta::assert_snapshot!("damaged_entry", place.shown(&error));
    assert!(
        update(&store, &key("k"), |_| (Some(entry("")), ()))
            .await
            .is_err()
    );
    assert!(store.list().await.is_err());
    store.enqueue_rollback(&key("k"), rollback, at(3000));
    assert_eq!(loaded(&store, "other").await, Some(entry("")));
    let stored: String = place
        .raw()
        .query_row(
            "SELECT entry_json FROM sessions WHERE session_key = 'k'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(stored, damaged);
}

#[tokio::test]
async fn a_file_of_a_newer_version_is_refused() {
    let place = Place::new();
    put(&place.open(), "k", &entry(&auto("a/m", "b/m"))).await;
    place.raw().pragma_update(None, "user_version", 9).unwrap();
    insta::assert_snapshot!("newer", place.shown(&place.refused()));
    place.raw().pragma_update(None, "user_version", 1).unwrap();
    assert!(loaded(&place.open(), "k").await.is_some());
}

#[test]
fn open_errors_name_the_file_and_what_to_do() {
    let mut all = Vec::new();
    let place = Place::new();
    place.write_sessions_json("{\n  oops");
    all.push(place.shown(&place.refused()));

    let place = Place::new();
    fs::create_dir_all(place.sessions_json()).unwrap();
    all.push(place.shown(&place.refused()));

    let place = Place::new();
    fs::write(
        place.directory.path().join("agents"),
        "a file where the directory should be",
    )
    .unwrap();
    all.push(place.shown(&place.refused()));

    let place = Place::new();
    place.write_sessions_json("{}");
    fs::write(place.file(), "not a database at all".repeat(100)).unwrap();
    all.push(place.shown(&place.refused()));
    insta::assert_snapshot!("open_errors", all.join("\n"));
}

#[test]
fn a_database_of_something_else_stays_as_it_is() {
    for version in [0, 1] {
        let place = Place::new();
        place.write_sessions_json("{}");
        let other = place.raw();
        other.execute_batch("CREATE TABLE notes (text TEXT)").unwrap();
        other.pragma_update(None, "user_version", version).unwrap();
        let before = fs::read(place.file()).unwrap();
        let error = place.refused();
        assert!(
            fs::read(place.file()).unwrap() == before,
            "{version}: not one byte changes"
        );
        assert!(matches!(error, OpenError::Foreign { .. }), "{version}: {error}");
        insta::assert_snapshot!("foreign", place.shown(&error));
        let tables: i64 = other
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .unwrap();
        assert_eq!(tables, 1, "{version}");
    }
}

#[test]
fn a_file_that_another_process_holds_is_not_called_broken() {
    let busy = || rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY), None);
    let path = Path::new("s.sqlite");
    let opened = connect::open_error(path, busy());
    let used = store_error(path, Arc::new(busy()));
    assert!(matches!(used, StoreError::Busy { .. }), "{used:?}");
    insta::assert_snapshot!("busy", format!("{opened}\n{used}"));
}

#[tokio::test]
async fn a_truncated_file_is_an_error_and_stays_as_it_is() {
    let place = Place::new();
    let store = place.open();
    for number in 0..200 {
        put(&store, &format!("k{number}"), &entry("")).await;
    }
    drop(store);
    let whole = fs::read(place.file()).unwrap();
    for kept in [50, 512, 4096, whole.len() / 2] {
        fs::write(place.file(), &whole[..kept]).unwrap();
        let found = match SqliteSessionStore::open(&place.file()) {
            Ok(store) => {
                let found = store.list().await;
                // A write must not build on what is missing.
                let written = store
                    .compare_and_set(&key("new"), Revision::NONE, entry(""))
                    .await;
                assert!(written.is_err(), "{kept}: {written:?}");
                found.map(drop).map_err(|error| error.to_string())
            }
            Err(error) => Err(error.to_string()),
        };
        assert!(found.unwrap_err().contains("is damaged"), "{kept}");
        assert_eq!(fs::read(place.file()).unwrap(), whole[..kept], "{kept}");
    }
}

#[tokio::test]
async fn a_garbled_log_beside_the_file_costs_no_session_that_was_in_the_file() {
    let place = Place::new();
    put(&place.open(), "k", &entry("")).await;
    let log = PathBuf::from(format!("{}-wal", place.file().display()));
    fs::write(&log, "garbage ".repeat(1000)).unwrap();
    let store = place.open();
    assert_eq!(loaded(&store, "k").await, Some(entry("")));
    put(&store, "l", &entry("")).await;
    drop(store);
    assert_eq!(loaded(&place.open(), "l").await, Some(entry("")));
}

#[tokio::test]
async fn odd_keys_are_keys_like_all_others() {
    let place = Place::new();
    let long = "k".repeat(100_000);
    let names = [
        "'; DROP TABLE sessions; --",
        "../../etc",
        "a\0b",
        "a",
        "\u{1f600}",
        "K",
        "k",
        "%",
        long.as_str(),
    ];
    let store = place.open();
    for (number, name) in (0..).zip(names) {
        put(&store, name, &SessionEntry::new(id("s1"), at(number))).await;
    }
    drop(store);
    let store = place.open();
    for (number, name) in (0..).zip(names) {
        assert_eq!(
            loaded(&store, name).await.unwrap().updated_at,
            at(number),
            "{name:.20}"
        );
    }
    assert_eq!(store.list().await.unwrap().len(), names.len());
}

#[test]
fn the_schema() {
    let place = Place::new();
    drop(place.open());
    let sql: Vec<String> = place
        .raw()
        .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    insta::assert_snapshot!("schema", sql.join("\n"));
}

#[cfg(unix)]
#[tokio::test]
async fn nobody_else_can_read_the_sessions() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let store = place.open();
    put(&store, "k", &entry("")).await;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(place.file().parent().unwrap()), 0o700);
    for side in ["", "-wal", "-shm"] {
        let file = PathBuf::from(format!("{}{side}", place.file().display()));
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[tokio::test]
async fn a_file_that_is_removed_or_replaced_is_not_written_to_in_vain() {
    let place = Place::new();
    let store = place.open();
    let put = async |name: &str| {
        let stored = store
            .compare_and_set(&key(name), Revision::NONE, entry(""))
            .await
            .unwrap();
        assert!(matches!(stored, CasOutcome::Stored(_)));
    };
    let remove = || {
        for suffix in ["", "-wal", "-shm"] {
            drop(fs::remove_file(format!("{}{suffix}", place.file().display())));
        }
    };
    put("before").await;
    let copy = place.directory.path().join("copy");
    place
        .raw()
        .execute("VACUUM INTO ?1", [copy.to_str().unwrap()])
        .unwrap();

    remove();
    put("after").await;
    assert!(
        store.load(&key("before")).await.unwrap().is_none(),
        "it was removed"
    );
    let left = SqliteSessionStore::snapshot(&place.file()).unwrap().unwrap();
    assert_eq!(left.len(), 1);

    remove();
    fs::rename(&copy, place.file()).unwrap();
    assert!(
        store.load(&key("before")).await.unwrap().is_some(),
        "the copy holds it"
    );
    put("later").await;

    // What cannot be used is left alone, and sessions go on.
    remove();
    fs::write(place.file(), "no database at all, whatever it is").unwrap();
    put("last").await;
    assert!(store.load(&key("later")).await.unwrap().is_some());
    assert!(fs::read(place.file()).unwrap().starts_with(b"no database"));
}
