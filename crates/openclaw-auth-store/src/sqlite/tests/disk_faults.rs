//! Disks that are full, files that may not be written or are held by others, and writers that died.

use std::fs;

use openclaw_classify::Reason;
use rusqlite::OpenFlags;

use openclaw_sqlite::open_read_write;

use super::*;

/// The answer of a writer on `connection` to one large change, and the snapshot that is shown then.
async fn write_large(
    connection: Connection,
    path: &Path,
    before: &AuthSnapshot,
) -> (StoreError, AuthSnapshot) {
    let cache = Arc::new(Cache::new(
        before.clone(),
        Arc::default(),
        CooldownConfig::default(),
    ));
    let known = FileState::read(&connection, path, &Arc::default()).unwrap();
    let writer = Writer::new(
        path.to_owned(),
        AgentId::main(),
        Arc::clone(&cache),
        Some((connection, known)),
        FilesystemKind::Local,
        fast(),
    );
    let (messages, queue) = mpsc::channel();
    let coordinator = Arc::new(WriteCoordinator::new(
        writer,
        FairLock::new(path, "auth-store-queue"),
        messages,
    ));
    let (reply, outcome) = oneshot::channel();
    let request = Request {
        op: Operation::Upsert(profile("large"), Box::new(key(&"k".repeat(100_000)))),
        now: at(2),
        reply: Some(reply),
    };
    coordinator.hand_over(request).unwrap();
    coordinator.send(WriteCommand::Stop).unwrap();
    let worker = WriteWorker {
        path: path.to_owned(),
        coordinator,
        timing: fast(),
    };
    worker.run(&queue);
    (outcome.await.unwrap().unwrap_err(), (*cache.snapshot()).clone())
}

/// A closed store whose profile `a` cools down.
async fn resting() -> (TempDir, PathBuf, AuthSnapshot) {
    let (folder, store) = with_profiles().await;
    let mark = failure("a", Reason::Billing, None, 1);
    store.commit(mark, at(1)).await.unwrap();
    let (path, before) = (store.path().to_owned(), (*store.snapshot()).clone());
    (folder, path, before)
}

#[tokio::test]
async fn a_full_disk_loses_nothing_and_is_told() {
    let (folder, path, before) = resting().await;
    let connection = open_read_write(&path, connect::LOCK_WAIT).unwrap();
    connect::configure(&connection, FilesystemKind::Local, connect::LOCK_WAIT).unwrap();
    let pages: i64 = connection
        .pragma_query_value(None, "page_count", |row| row.get(0))
        .unwrap();
    connection.pragma_update(None, "max_page_count", pages).unwrap();
    let (error, shown) = write_large(connection, &path, &before).await;
    assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
    assert!(
        error
            .to_string()
            .contains("has no room on its disk; free some space"),
        "{error}"
    );
    assert_eq!(shown, before);
    assert_eq!(*open(folder.path()).unwrap().snapshot(), before);
}

#[tokio::test]
async fn a_file_that_may_not_be_written_is_still_read() {
    let (folder, path, before) = resting().await;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&path, flags).unwrap();
    let (error, shown) = write_large(connection, &path, &before).await;
    assert!(matches!(error, StoreError::NotWritable { .. }), "{error:?}");
    assert!(
        error
            .to_string()
            .contains("is read-only; give this user the right to write"),
        "{error}"
    );
    assert_eq!(shown, before);
    assert_eq!(
        SqliteAuthStore::read_snapshot(folder.path(), Vec::new()).unwrap(),
        before
    );
}

/// M2, M3: where OpenClaw reports nothing this is an error, and the change holds in this process meanwhile.
#[tokio::test]
async fn d33_m3_a_lock_that_is_held_for_too_long_is_told_and_everything_is_still_read() {
    let (folder, path, before) = resting().await;
    let impatient = || {
        let timing = Timing {
            wait: BusyWait::None,
            ..fast()
        };
        let (agent, config) = (AgentId::main(), CooldownConfig::default());
        SqliteAuthStore::open_with(folder.path(), &agent, Vec::new(), config, at(0), timing)
    };
    let store = impatient().unwrap();
    let file = Connection::open(&path).unwrap();
    file.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mark = || failure("b", Reason::Billing, None, 1);
    let error = store.commit(mark(), at(1)).await.unwrap_err();
    assert!(matches!(error, StoreError::Busy { .. }), "{error:?}");
    assert!(
        error.to_string().contains("close that program or try again"),
        "{error}"
    );
    let error = impatient().unwrap_err();
    assert!(matches!(error, OpenError::Busy { .. }), "{error:?}");
    let mut held = before.clone();
    held.apply(&mark(), at(1), &CooldownConfig::default());
    assert_eq!(
        *store.snapshot(),
        held,
        "this process knows what it could not write"
    );
    assert_eq!(
        SqliteAuthStore::read_snapshot(folder.path(), Vec::new()).unwrap(),
        before
    );
    file.execute_batch("COMMIT").unwrap();
    store.commit(mark(), at(1)).await.unwrap();
    assert!(!store.snapshot().usage(&profile("b")).is_usable(None, at(1)));
}

#[tokio::test]
async fn a_log_that_was_cut_off_loses_its_end_and_nothing_else() {
    let (folder, store) = with_profiles().await;
    let mut counts = 0;
    for second in 1..=20 {
        let mark = failure("a", Reason::Overloaded, Some("m"), second);
        store.commit(mark, at(second)).await.unwrap();
        counts += 1;
    }
    let name = "openclaw-agent.sqlite";
    let log = fs::read(folder.path().join(format!("{name}-wal"))).unwrap();
    let mut seen = 0;
    for part in 0..=8 {
        let copy = tempfile::tempdir().unwrap();
        fs::copy(folder.path().join(name), copy.path().join(name)).unwrap();
        let kept = log.len() * part / 8;
        fs::write(copy.path().join(format!("{name}-wal")), &log[..kept]).unwrap();
        let found = open(copy.path()).unwrap();
        let snapshot = found.snapshot();
        let found = snapshot
            .usage(&profile("a"))
            .failure_counts
            .get(&Reason::Overloaded);
        let found = found.copied().unwrap_or_default();
        assert!(found >= seen, "{part}: {found} after {seen}");
        seen = found;
        assert_eq!(text(&outside(copy.path()), "PRAGMA integrity_check"), "ok");
    }
    assert_eq!(seen, counts, "the whole log has everything");
}

#[tokio::test]
async fn d1_d23_a_look_makes_nothing_and_asks_for_no_owner() {
    let folder = tempfile::tempdir().unwrap();
    let nothing = SqliteAuthStore::read_snapshot(&folder.path().join("none"), Vec::new()).unwrap();
    assert_eq!(nothing, AuthSnapshot::default());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

    let (folder, path, before) = resting().await;
    let file = outside(folder.path());
    file.execute_batch(
        "UPDATE schema_meta SET agent_id = 'ops'; PRAGMA user_version = 2; DROP TABLE auth_profile_state",
    )
    .unwrap();
    let dumped = opening::dump(&file);
    let seen = SqliteAuthStore::read_snapshot(folder.path(), Vec::new()).unwrap();
    assert_eq!(seen.profiles, before.profiles);
    assert_eq!(opening::dump(&file), dumped);
    drop(file);
    fs::write(&path, "no database").unwrap();
    let error = SqliteAuthStore::read_snapshot(folder.path(), Vec::new()).unwrap_err();
    assert!(matches!(error, OpenError::NotADatabase { .. }), "{error:?}");
}

#[tokio::test]
async fn d4_the_log_is_moved_into_the_file_when_there_is_time_and_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let open = |checkpoint| {
        let timing = Timing { checkpoint, ..fast() };
        let (agent, config) = (AgentId::main(), CooldownConfig::default());
        SqliteAuthStore::open_with(folder.path(), &agent, Vec::new(), config, at(0), timing).unwrap()
    };
    // Another connection has the file open, so closing the store does not remove the log.
    let store = open(Duration::from_millis(1));
    let other = outside(folder.path());
    let tables: i64 = other
        .query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))
        .unwrap();
    assert!(tables > 0);
    store.upsert(profile("aa"), key("aa"), at(0)).await.unwrap();
    let file = || fs::read(folder.path().join("openclaw-agent.sqlite")).unwrap();
    let holds = |name: &str| file().windows(name.len()).any(|window| window == name.as_bytes());
    eventually("a passive checkpoint", || holds("\"aa\":{"));
    drop(store);
    let store = open(Duration::from_hours(1));
    store.upsert(profile("zz"), key("zz"), at(0)).await.unwrap();
    assert!(!holds("\"zz\":{"));
    drop(store);
    assert!(holds("\"zz\":{"));
    let log = folder.path().join("openclaw-agent.sqlite-wal");
    assert_eq!(fs::metadata(log).unwrap().len(), 0);
    drop(other);
}
