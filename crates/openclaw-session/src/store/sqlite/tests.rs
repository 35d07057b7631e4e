//! The file: what survives, what is refused, and the error texts.

use std::fs;

use openclaw_sqlite::rusqlite::{self, Connection};
use tempfile::TempDir;

use super::*;
use crate::fallback_override::{PersistOutcome, persist_fallback};
use crate::store::update;
use crate::testing::{at, auto, entry, fallback, id, key, user};

/// A temporary directory with the path of a session file, which may not exist yet.
struct StateFolder {
    directory: TempDir,
}

impl StateFolder {
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
    let folder = StateFolder::new();
    let store = folder.open();
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
    assert_eq!(loaded(&folder.open(), "k").await, Some(expected));
}

#[tokio::test]
async fn many_writers_of_one_session_lose_nothing() {
    let folder = StateFolder::new();
    // Two stores on one file are two connections, as two processes have.
    let stores = [folder.open(), folder.open()];
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
    let folder = StateFolder::new();
    let text = format!(r#"{{"k": {{"sessionId": "s1", {}}}, "odd": 5}}"#, user("a/m"));
    folder.write_sessions_json(&text);
    let store = folder.open();
    assert!(loaded(&store, "k").await.unwrap().is_user_pin());
    assert_eq!(loaded(&store, "odd").await, None);
    put(&store, "k", &entry("")).await;
    drop(store);
    assert_eq!(fs::read_to_string(folder.sessions_json()).unwrap(), text);
    // The second use does not bring the imported state back.
    assert_eq!(loaded(&folder.open(), "k").await, Some(entry("")));
}

#[tokio::test]
async fn s7_a_broken_sessions_json_stops_the_first_use_and_nothing_is_lost() {
    let folder = StateFolder::new();
    folder.write_sessions_json(r#"{"k": {"sessionId": "s1""#);
    let error = folder.refused();
    assert!(matches!(error, OpenError::ImportParse { .. }), "{error}");
    assert!(
        !folder.file().exists(),
        "nothing looks as if it had been imported"
    );
    folder.write_sessions_json(r#"{"k": {"sessionId": "s1"}}"#);
    assert!(loaded(&folder.open(), "k").await.is_some());
}

#[tokio::test]
async fn s7_a_snapshot_distinguishes_a_file_that_was_never_opened_from_one_without_sessions() {
    let folder = StateFolder::new();
    folder.write_sessions_json(r#"{"k": {"sessionId": "s1"}}"#);
    let count = || {
        SqliteSessionStore::snapshot(&folder.file())
            .unwrap()
            .map(|found| found.len())
    };
    assert_eq!(count(), None, "there is no file");
    fs::write(folder.file(), "").unwrap();
    assert_eq!(count(), None, "an empty file took nothing over");
    assert_eq!(
        fs::read(folder.file()).unwrap(),
        b"",
        "a snapshot changes nothing"
    );
    drop(folder.open());
    assert_eq!(count(), Some(1));
    folder.raw().execute("DELETE FROM sessions", []).unwrap();
    assert_eq!(count(), Some(0), "it was taken over, and is not again");
}

#[tokio::test]
async fn s7_broken_characters_are_replaced_and_the_rest_is_imported() {
    let folder = StateFolder::new();
    folder.write_sessions_json("");
    let text = [
        br#"{"k": {"sessionId": "s1", "label": ""#.as_slice(),
        b"\xff",
        br#""}}"#,
    ]
    .concat();
    fs::write(folder.sessions_json(), &text).unwrap();
    let session = loaded(&folder.open(), "k").await.unwrap();
    assert_eq!(session.unknown_member("label"), Some(&"\u{fffd}".into()));
    assert_eq!(fs::read(folder.sessions_json()).unwrap(), text);
}

#[test]
fn a_file_that_is_no_database_stays_as_it_is() {
    let folder = StateFolder::new();
    folder.write_sessions_json("{}");
    let text = "definitely not a database, but a user's notes".repeat(100);
    fs::write(folder.file(), &text).unwrap();
    let error = folder.refused();
    assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
    assert_eq!(fs::read_to_string(folder.file()).unwrap(), text);
}

#[tokio::test]
async fn a_broken_page_is_an_error_and_stays_as_it_is() {
    let folder = StateFolder::new();
    put(&folder.open(), "k", &entry("")).await;
    let mut bytes = fs::read(folder.file()).unwrap();
    let page = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
    bytes[page..].fill(0xff);
    fs::write(folder.file(), &bytes).unwrap();
    let store = folder.open();
    let error = store.load(&key("k")).await.unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    let outcome = store.compare_and_set(&key("k"), Revision::NONE, entry("")).await;
    assert!(outcome.is_err(), "{outcome:?}");
    drop(store);
    assert_eq!(fs::read(folder.file()).unwrap(), bytes);
}

#[tokio::test]
async fn s_4_4_a_damaged_entry_concerns_its_own_session_alone() {
    let folder = StateFolder::new();
    let store = folder.open();
    put(&store, "k", &entry("")).await;
    put(&store, "other", &entry("")).await;
    let read = entry("");
    let change = fallback(&read, "home/m", "a/f1");
    let (_, PersistOutcome::Written(rollback)) = persist_fallback(&read, &change, at(2000)) else {
        panic!("not written");
    };
    let damaged = r#"{"sessionId": "s1", "#;
    let spoil = "UPDATE sessions SET entry_json = ?1 WHERE session_key = 'k'";
    folder.raw().execute(spoil, [damaged]).unwrap();

    let error = store.load(&key("k")).await.unwrap_err();
    insta::assert_snapshot!("damaged_entry", folder.shown(&error));
    assert!(
        update(&store, &key("k"), |_| (Some(entry("")), ()))
            .await
            .is_err()
    );
    assert!(store.list().await.is_err());
    store.enqueue_rollback(&key("k"), rollback, at(3000));
    assert_eq!(loaded(&store, "other").await, Some(entry("")));
    let stored: String = folder
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
    let folder = StateFolder::new();
    put(&folder.open(), "k", &entry(&auto("a/m", "b/m"))).await;
    folder.raw().pragma_update(None, "user_version", 9).unwrap();
    insta::assert_snapshot!("newer", folder.shown(&folder.refused()));
    folder.raw().pragma_update(None, "user_version", 1).unwrap();
    assert!(loaded(&folder.open(), "k").await.is_some());
}

#[test]
fn open_errors_name_the_file_and_what_to_do() {
    let mut all = Vec::new();
    let folder = StateFolder::new();
    folder.write_sessions_json("{\n  oops");
    all.push(folder.shown(&folder.refused()));

    let folder = StateFolder::new();
    fs::create_dir_all(folder.sessions_json()).unwrap();
    all.push(folder.shown(&folder.refused()));

    let folder = StateFolder::new();
    fs::write(
        folder.directory.path().join("agents"),
        "a file where the directory should be",
    )
    .unwrap();
    all.push(folder.shown(&folder.refused()));

    let folder = StateFolder::new();
    folder.write_sessions_json("{}");
    fs::write(folder.file(), "not a database at all".repeat(100)).unwrap();
    all.push(folder.shown(&folder.refused()));
    insta::assert_snapshot!("open_errors", all.join("\n"));
}

#[test]
fn a_database_of_something_else_stays_as_it_is() {
    for version in [0, 1] {
        let folder = StateFolder::new();
        folder.write_sessions_json("{}");
        let other = folder.raw();
        other.execute_batch("CREATE TABLE notes (text TEXT)").unwrap();
        other.pragma_update(None, "user_version", version).unwrap();
        let before = fs::read(folder.file()).unwrap();
        let error = folder.refused();
        assert!(
            fs::read(folder.file()).unwrap() == before,
            "{version}: not one byte changes"
        );
        assert!(matches!(error, OpenError::Foreign { .. }), "{version}: {error}");
        insta::assert_snapshot!("foreign", folder.shown(&error));
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
    let folder = StateFolder::new();
    let store = folder.open();
    for number in 0..200 {
        put(&store, &format!("k{number}"), &entry("")).await;
    }
    drop(store);
    let whole = fs::read(folder.file()).unwrap();
    for kept in [50, 512, 4096, whole.len() / 2] {
        fs::write(folder.file(), &whole[..kept]).unwrap();
        let found = match SqliteSessionStore::open(&folder.file()) {
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
        assert_eq!(fs::read(folder.file()).unwrap(), whole[..kept], "{kept}");
    }
}

#[tokio::test]
async fn a_garbled_log_beside_the_file_costs_no_session_that_was_in_the_file() {
    let folder = StateFolder::new();
    put(&folder.open(), "k", &entry("")).await;
    let log = PathBuf::from(format!("{}-wal", folder.file().display()));
    fs::write(&log, "garbage ".repeat(1000)).unwrap();
    let store = folder.open();
    assert_eq!(loaded(&store, "k").await, Some(entry("")));
    put(&store, "l", &entry("")).await;
    drop(store);
    assert_eq!(loaded(&folder.open(), "l").await, Some(entry("")));
}

#[tokio::test]
async fn odd_keys_are_keys_like_all_others() {
    let folder = StateFolder::new();
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
    let store = folder.open();
    for (number, name) in (0..).zip(names) {
        put(&store, name, &SessionEntry::new(id("s1"), at(number))).await;
    }
    drop(store);
    let store = folder.open();
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
    let folder = StateFolder::new();
    drop(folder.open());
    let sql: Vec<String> = folder
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
async fn only_the_owner_can_read_the_sessions() {
    use std::os::unix::fs::PermissionsExt;
    let folder = StateFolder::new();
    let store = folder.open();
    put(&store, "k", &entry("")).await;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(folder.file().parent().unwrap()), 0o700);
    for side in ["", "-wal", "-shm"] {
        let file = PathBuf::from(format!("{}{side}", folder.file().display()));
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[tokio::test]
async fn a_file_that_is_removed_or_replaced_is_not_written_to_in_vain() {
    let folder = StateFolder::new();
    let store = folder.open();
    let put = async |name: &str| {
        let stored = store
            .compare_and_set(&key(name), Revision::NONE, entry(""))
            .await
            .unwrap();
        assert!(matches!(stored, CasOutcome::Stored(_)));
    };
    let remove = || {
        for suffix in ["", "-wal", "-shm"] {
            drop(fs::remove_file(format!("{}{suffix}", folder.file().display())));
        }
    };
    put("before").await;
    let copy = folder.directory.path().join("copy");
    folder
        .raw()
        .execute("VACUUM INTO ?1", [copy.to_str().unwrap()])
        .unwrap();

    remove();
    put("after").await;
    assert!(
        store.load(&key("before")).await.unwrap().is_none(),
        "it was removed"
    );
    let left = SqliteSessionStore::snapshot(&folder.file()).unwrap().unwrap();
    assert_eq!(left.len(), 1);

    remove();
    fs::rename(&copy, folder.file()).unwrap();
    assert!(
        store.load(&key("before")).await.unwrap().is_some(),
        "the copy holds it"
    );
    put("later").await;

    // What cannot be used is left alone, and sessions go on.
    remove();
    fs::write(folder.file(), "no database at all, whatever it is").unwrap();
    put("last").await;
    assert!(store.load(&key("later")).await.unwrap().is_some());
    assert!(fs::read(folder.file()).unwrap().starts_with(b"no database"));
}
