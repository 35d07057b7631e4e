//! Files that are restored, removed or made inaccessible while a store uses them.

use std::fs;

use openclaw_classify::Reason;

use super::*;
use openclaw_sqlite::with_suffix;

fn remove(path: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        drop(fs::remove_file(with_suffix(path, suffix)));
    }
}

fn rests(snapshot: &AuthSnapshot, id: &str) -> bool {
    !snapshot.usage(&profile(id)).is_usable(None, at(5))
}

/// A store that has read the restored copy of its file, from before a change of `a`.
async fn put_back() -> (TempDir, SqliteAuthStore) {
    let (folder, store) = with_profiles().await;
    let copy = folder.path().join("copy");
    outside(folder.path())
        .execute("VACUUM INTO ?1", [copy.to_str().unwrap()])
        .unwrap();
    store
        .commit(failure("a", Reason::Billing, None, 1), at(1))
        .await
        .unwrap();
    remove(store.path());
    fs::rename(copy, store.path()).unwrap();
    eventually("the copy's view", || !rests(&store.snapshot(), "a"));
    (folder, store)
}

#[tokio::test]
async fn a_copy_that_is_put_back_is_used_and_written() {
    let (folder, store) = put_back().await;
    store
        .commit(failure("b", Reason::Billing, None, 2), at(2))
        .await
        .unwrap();
    drop(store);
    let again = open(folder.path()).unwrap();
    assert!(
        rests(&again.snapshot(), "b"),
        "the mark is in the file that is there"
    );
    assert!(!rests(&again.snapshot(), "a"));
}

/// A store that only reads does not open the new file for writing, and its connection to the old one notices nothing.
#[tokio::test]
async fn what_others_write_into_a_copy_that_was_put_back_shows() {
    let (folder, store) = put_back().await;
    let other = open(folder.path()).unwrap();
    for id in ["a", "b"] {
        other
            .commit(failure(id, Reason::Billing, None, 2), at(2))
            .await
            .unwrap();
        eventually("the other store's mark", || rests(&store.snapshot(), id));
    }
}

#[tokio::test]
async fn a_removed_file_is_told_and_what_is_known_goes_into_the_next() {
    let (folder, store) = with_profiles().await;
    remove(store.path());
    let error = store
        .commit(failure("a", Reason::Billing, None, 1), at(1))
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::Gone { .. }), "{error:?}");
    assert!(matches!(store.refresh(), Err(StoreError::Gone { .. })));
    assert!(!store.path().exists(), "nothing is made up in its place");
    assert!(rests(&store.snapshot(), "a"), "it holds in this process");
    assert!(store.snapshot().credential(&profile("b")).is_some());

    let other = open(folder.path()).unwrap();
    for id in ["a", "c"] {
        other.upsert(profile(id), key(id), at(2)).await.unwrap();
    }
    eventually("the new file's view", || {
        store.snapshot().credential(&profile("c")).is_some()
    });
    assert!(store.snapshot().credential(&profile("b")).is_none());
    store.commit(success("c", None, 3), at(3)).await.unwrap();
    other.refresh().unwrap();
    assert!(rests(&other.snapshot(), "a"), "the kept mark is stored");
}

#[tokio::test]
async fn a_store_that_cannot_be_written_at_the_start_is_read_and_written_later() {
    let (folder, store) = with_profiles().await;
    store
        .commit(failure("a", Reason::Billing, None, 1), at(1))
        .await
        .unwrap();
    let path = store.path().to_owned();
    drop(store);
    // As on a full disk: the files that SQLite keeps beside the file cannot be created.
    let blocked = with_suffix(&path, "-wal");
    fs::create_dir(&blocked).unwrap();
    let store = open(folder.path()).unwrap();
    assert!(rests(&store.snapshot(), "a"));
    store
        .commit(failure("b", Reason::Billing, None, 2), at(2))
        .await
        .unwrap_err();
    assert!(rests(&store.snapshot(), "b"), "it holds in this process");
    store.refresh().unwrap();
    assert!(rests(&store.snapshot(), "a") && rests(&store.snapshot(), "b"));
    fs::remove_dir(&blocked).unwrap();
    store.commit(success("a", None, 3), at(3)).await.unwrap();
    drop(store);
    let again = open(folder.path()).unwrap();
    assert!(rests(&again.snapshot(), "b") && !rests(&again.snapshot(), "a"));
}

#[tokio::test]
async fn a_file_whose_index_lost_a_row_is_damaged_and_no_empty_one() {
    for table in ["auth_profile_store", "auth_profile_state"] {
        let (folder, store) = with_profiles().await;
        let mark = failure("a", Reason::Billing, None, 1);
        store.commit(mark, at(1)).await.unwrap();
        let path = store.path().to_owned();
        drop(store);
        let file = outside(folder.path());
        let root: u32 = file
            .query_row(
                "SELECT rootpage FROM sqlite_master WHERE type = 'index' AND tbl_name = ?1",
                [table],
                |row| row.get(0),
            )
            .unwrap();
        file.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .unwrap();
        drop(file);
        let mut bytes = fs::read(&path).unwrap();
        let root = usize::try_from(root).unwrap();
        let page = &mut bytes[(root - 1) * 4_096..root * 4_096];
        assert_eq!((page[0], page[4]), (10, 1), "a leaf of an index with one entry");
        page.fill(0);
        // A leaf without entries, which is sound by itself.
        (page[0], page[5]) = (10, 0x10);
        fs::write(&path, &bytes).unwrap();
        let error = open(folder.path()).unwrap_err();
        assert!(matches!(error, OpenError::Corrupt { .. }), "{table}: {error:?}");
        let error = SqliteAuthStore::read_snapshot(folder.path(), Vec::new()).unwrap_err();
        assert!(matches!(error, OpenError::Corrupt { .. }), "{table}: {error:?}");
        assert_eq!(fs::read(&path).unwrap(), bytes, "it is left as it is");
    }
}

#[tokio::test]
async fn a_file_that_was_cut_is_no_new_one() {
    for length in [0, 17, 100, 2_048] {
        let (folder, store) = with_profiles().await;
        let path = store.path().to_owned();
        drop(store);
        fs::File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len(length)
            .unwrap();
        let log = with_suffix(&path, "-wal");
        fs::write(&log, [1; 100]).unwrap();
        let error = open(folder.path()).unwrap_err();
        assert!(matches!(error, OpenError::Corrupt { .. }), "{length}: {error:?}");
        assert_eq!(fs::metadata(&path).unwrap().len(), length, "it is left as it is");
        assert_eq!(fs::read(&log).unwrap(), [1; 100]);
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("openclaw-agent.sqlite"), "").unwrap();
    open(folder.path()).unwrap();
}
