//! What a file must be to be opened, and that nothing else is touched (auth-store.md 1.4, 2.1 to 2.3).

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

fn error_of(folder: &Path) -> OpenError {
    open(folder).unwrap_err()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn d7_a_new_file_has_the_tables_the_version_and_the_owner() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()).unwrap());
    let file = outside(folder.path());
    let sql = "SELECT group_concat(sql, ';' || char(10)) FROM (SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name)";
    insta::assert_snapshot!("schema", text(&file, sql));
    let sql = "SELECT json_array(meta_key, role, schema_version, agent_id, app_version, created_at, updated_at) FROM schema_meta";
    assert_eq!(
        text(&file, sql),
        r#"["primary","agent",1,"main",null,1750000000000,1750000000000]"#
    );
    let version: i64 = file
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    assert_eq!(version, 1);
    let journal: String = file
        .pragma_query_value(None, "journal_mode", |row| row.get(0))
        .unwrap();
    assert_eq!(journal, "wal");
}

#[test]
fn many_may_open_a_new_file_at_once() {
    for _ in 0..10 {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("agents/main/agent");
        thread::scope(|scope| {
            let opened: Vec<_> = (0..8).map(|_| scope.spawn(|| open(&folder))).collect();
            for store in opened {
                store.join().unwrap().unwrap();
            }
        });
    }
}

#[test]
fn d20_opening_again_keeps_the_creation_time() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()).unwrap());
    let later = SqliteAuthStore::open(
        folder.path(),
        &AgentId::main(),
        Vec::new(),
        CooldownConfig::default(),
        at(9),
    );
    drop(later.unwrap());
    let sql = "SELECT json_array(created_at, updated_at) FROM schema_meta";
    assert_eq!(
        text(&outside(folder.path()), sql),
        "[1750000000000,1750000009000]"
    );
}

#[test]
fn l20_l21_only_the_owner_may_read_folder_and_files() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("agents/main/agent");
    let store = open(&folder).unwrap();
    for made in ["agents", "agents/main", "agents/main/agent"] {
        assert_eq!(mode(&root.path().join(made)), 0o700, "{made}");
    }
    for suffix in ["", "-wal", "-shm"] {
        assert_eq!(
            mode(&folder.join(format!("openclaw-agent.sqlite{suffix}"))),
            0o600,
            "{suffix}"
        );
    }
    drop(store);
    // The default folder and the file become private again, a custom folder does not.
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(
        folder.join("openclaw-agent.sqlite"),
        fs::Permissions::from_mode(0o644),
    )
    .unwrap();
    drop(open(&folder).unwrap());
    assert_eq!(
        (mode(&folder), mode(&folder.join("openclaw-agent.sqlite"))),
        (0o700, 0o600)
    );
    let custom = root.path().join("custom");
    fs::create_dir(&custom).unwrap();
    fs::set_permissions(&custom, fs::Permissions::from_mode(0o755)).unwrap();
    drop(open(&custom).unwrap());
    assert_eq!(mode(&custom), 0o755);
}

#[test]
fn d7_a_file_with_only_the_auth_tables_is_completed() {
    let folder = tempfile::tempdir().unwrap();
    let file = outside(folder.path());
    file.execute_batch(
        r#"CREATE TABLE auth_profile_store (store_key TEXT NOT NULL PRIMARY KEY, store_json TEXT NOT NULL, updated_at INTEGER NOT NULL);
           INSERT INTO auth_profile_store VALUES ('primary', '{"profiles":{"a":{"type":"api_key","provider":"p","key":"k"}}}', 1),
             ('other', 'not ours', 2);"#,
    )
    .unwrap();
    let store = open(folder.path()).unwrap();
    assert_eq!(store.snapshot().profiles.len(), 1);
    assert_eq!(
        text(
            &file,
            "SELECT store_json FROM auth_profile_store WHERE store_key = 'other'"
        ),
        "not ours"
    );
    assert_eq!(text(&file, "SELECT agent_id FROM schema_meta"), "main");
}

/// A file that must be refused, and a part of the error.
struct RefusedFile {
    what: &'static str,
    make: &'static str,
    says: &'static str,
}

const REFUSED: &[RefusedFile] = &[
    RefusedFile {
        what: "D6 newer",
        make: "PRAGMA user_version = 2",
        says: "has schema version 2, and this program knows up to 1; use a newer program",
    },
    RefusedFile {
        what: "D21 another agent's",
        make: "UPDATE schema_meta SET agent_id = 'ops'",
        says: "belongs to agent `ops`, not to `main`",
    },
    RefusedFile {
        what: "D21 nobody's",
        make: "UPDATE schema_meta SET agent_id = ' '",
        says: "belongs to agent ` `, not to `main`",
    },
    RefusedFile {
        what: "D21 no agent's",
        make: "UPDATE schema_meta SET role = 'state'",
        says: "is a database for `state`, not an agent's",
    },
    RefusedFile {
        what: "D5 another program's by its mark",
        make: "PRAGMA application_id = 77",
        says: "is a database of another program",
    },
    RefusedFile {
        what: "another program's by its tables",
        make:
            "DROP TABLE schema_meta; DROP TABLE auth_profile_store; DROP TABLE IF EXISTS auth_profile_state;
               DROP TABLE failover_state; CREATE TABLE mine (x)",
        says: "is a database of another program",
    },
    RefusedFile {
        what: "D13 an unreadable secrets row",
        make: "UPDATE auth_profile_store SET store_json = '{\"profiles\"'",
        says: "row `primary` of table `auth_profile_store`",
    },
    RefusedFile {
        what: "D13 a secrets row of another kind",
        make: "UPDATE auth_profile_store SET store_json = x'00'",
        says: "is damaged (not a text); set it aside",
    },
    RefusedFile {
        what: "D13 an unreadable state row",
        make: "INSERT INTO auth_profile_state VALUES ('primary', '[]', 1)",
        says: "row `primary` of table `auth_profile_state`",
    },
    RefusedFile {
        what: "D13 an unreadable row of ours",
        make: "INSERT INTO failover_state VALUES ('usage:a', '{}', 1)",
        says: "row `usage:a` of table `failover_state`",
    },
    RefusedFile {
        what: "D13 a row of ours that is about another endpoint than its key",
        make: r#"INSERT INTO failover_state VALUES ('endpoint:p https://a',
                 '{"provider":"p","baseUrl":"https://b","window":{"openedAt":1,"until":2}}', 1)"#,
        says: "row `endpoint:p https://a` of table `failover_state`",
    },
    RefusedFile {
        what: "D13 a row of ours that is about another provider than its key",
        make: r#"INSERT INTO failover_state VALUES ('probe:p', '{"provider":"q","lastProbeAt":1,"generation":1}', 1)"#,
        says: "(about something else than its key); set it aside",
    },
];

#[tokio::test]
async fn what_is_refused_is_left_as_it_is() {
    for RefusedFile { what, make, says } in REFUSED {
        let (folder, store) = with_profiles().await;
        drop(store);
        let file = outside(folder.path());
        file.execute_batch(make).unwrap();
        let before = dump(&file);
        let error = error_of(folder.path()).to_string();
        assert!(error.contains(says), "{what}: {error}");
        assert!(
            error.contains("openclaw-agent.sqlite"),
            "{what} names the file: {error}"
        );
        assert_eq!(dump(&file), before, "{what}");
    }
}

#[tokio::test]
async fn what_is_no_good_database_keeps_every_byte() {
    let (folder, store) = with_profiles().await;
    drop(store);
    let path = folder.path().join("openclaw-agent.sqlite");
    let whole = fs::read(&path).unwrap();
    let damaged = |from: usize, to: usize| {
        let mut bytes = whole.clone();
        bytes[from..to].fill(0xa5);
        bytes
    };
    for (what, bytes, says) in [
        (
            "text",
            b"{\"profiles\": {}}".to_vec(),
            "is not an SQLite database",
        ),
        ("a short text", b"x".to_vec(), "is not an SQLite database"),
        ("a damaged schema", damaged(100, 4_096), "is damaged"),
        ("damaged tables", damaged(4_096, whole.len()), "is damaged"),
        ("a cut file", whole[..4_096].to_vec(), "is damaged"),
    ] {
        fs::write(&path, &bytes).unwrap();
        let error = error_of(folder.path()).to_string();
        assert!(error.contains(says), "{what}: {error}");
        assert!(fs::read(&path).unwrap() == bytes, "{what} was changed");
    }
}

#[test]
fn damage_anywhere_is_found_before_tables_are_added() {
    let folder = tempfile::tempdir().unwrap();
    let file = outside(folder.path());
    file.execute_batch(
        "CREATE TABLE memory_index_meta (text TEXT); INSERT INTO memory_index_meta VALUES (zeroblob(20000));",
    )
    .unwrap();
    drop(file);
    let path = folder.path().join("openclaw-agent.sqlite");
    let mut bytes = fs::read(&path).unwrap();
    bytes[4_096..4_200].fill(0xa5);
    fs::write(&path, &bytes).unwrap();
    let error = error_of(folder.path()).to_string();
    assert!(error.contains("is damaged"), "{error}");
    assert!(fs::read(&path).unwrap() == bytes);
}

#[test]
fn places_that_cannot_hold_a_store() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("file"), "x").unwrap();
    let error = error_of(&root.path().join("file/agent"));
    assert!(matches!(error, OpenError::Io { .. }), "{error:?}");
    let error = error_of(&root.path().join("file"));
    assert!(matches!(error, OpenError::NotAFolder { .. }), "{error:?}");
    assert!(
        error
            .to_string()
            .ends_with("/file` is a file; give the folder that holds it, or move it away"),
        "{error}"
    );
    assert_eq!(fs::read(root.path().join("file")).unwrap(), b"x");
    fs::create_dir_all(root.path().join("taken/openclaw-agent.sqlite")).unwrap();
    let error = error_of(&root.path().join("taken"));
    assert!(matches!(error, OpenError::Io { .. }), "{error:?}");
    assert!(
        error
            .to_string()
            .contains("taken/openclaw-agent.sqlite` cannot be used; check"),
        "{error}"
    );
}

/// Every row of every table.
pub(super) fn dump(file: &Connection) -> String {
    let mut tables = file
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        .unwrap();
    let tables: Vec<String> = tables
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    tables.iter().map(|table| dump_table(file, table)).collect()
}

pub(super) fn dump_table(file: &Connection, table: &str) -> String {
    let mut statement = file.prepare(&format!("SELECT * FROM {table}")).unwrap();
    let columns = statement.column_count();
    let mut rows = statement.query([]).unwrap();
    let mut dump = format!("{table}\n");
    while let Some(row) = rows.next().unwrap() {
        for column in 0..columns {
            writeln!(dump, "  {:?}", row.get_ref(column).unwrap()).unwrap();
        }
    }
    dump
}

#[tokio::test]
async fn a_look_shows_what_is_stored_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let look = |folder: &Path| SqliteAuthStore::read_owned_snapshot(folder, &AgentId::main());
    assert_eq!(look(folder.path()).unwrap(), None);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

    let (folder, store) = with_profiles().await;
    drop(store);
    let file = outside(folder.path());
    file.execute_batch("DROP TABLE failover_state").unwrap();
    let before = fs::read(folder.path().join("openclaw-agent.sqlite")).unwrap();
    let seen = look(folder.path()).unwrap().unwrap();
    assert_eq!(seen.profiles.len(), 2);
    let tables = "SELECT count(*) FROM sqlite_master WHERE name = 'failover_state'";
    let count: i64 = file.query_row(tables, [], |row| row.get(0)).unwrap();
    assert_eq!(count, 0);
    assert_eq!(
        fs::read(folder.path().join("openclaw-agent.sqlite")).unwrap(),
        before
    );

    fs::write(folder.path().join("openclaw-agent.sqlite"), "no database").unwrap();
    assert!(look(folder.path()).is_err());
}
