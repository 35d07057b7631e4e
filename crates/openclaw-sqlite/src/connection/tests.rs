use std::fs;
use std::time::Duration;

use super::*;
use crate::error::is_busy;
use crate::file::create_private_file;

const WAIT: BusyWait = BusyWait::Handler(wait_in_steps::<5>);

fn new_file(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("a b?.sqlite");
    create_private_file(&path).unwrap();
    let connection = open_read_write(&path, WAIT).unwrap();
    Pragmas::default().apply(&connection, WAIT).unwrap();
    connection
        .execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
        .unwrap();
    path
}

fn count(connection: &Connection) -> i64 {
    connection
        .query_row("SELECT count(*) FROM t", [], |row| row.get(0))
        .unwrap()
}

#[test]
fn a_missing_file_is_not_created() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none");
    assert!(open_read_write(&path, WAIT).is_err());
    assert!(open_read_only(&path, WAIT).is_err());
    assert!(!path.exists());
}

#[test]
fn readers_cannot_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = new_file(folder.path());
    for reader in [open_query_only(&path, WAIT), open_read_only(&path, WAIT)] {
        let reader = reader.unwrap();
        assert_eq!(count(&reader), 1);
        assert!(reader.execute("INSERT INTO t VALUES (2)", []).is_err());
    }
}

#[test]
fn a_reader_follows_the_file_that_takes_the_place_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = new_file(folder.path());
    let mut reader = FollowingReader::new(path.clone(), WAIT);
    assert!(reader.connection().unwrap().unwrap().1);
    assert!(!reader.connection().unwrap().unwrap().1);
    fs::remove_file(&path).unwrap();
    assert!(reader.connection().unwrap().is_none());
    let other = tempfile::tempdir().unwrap();
    let copy = new_file(other.path());
    fs::rename(copy, &path).unwrap();
    let (connection, is_new) = reader.connection().unwrap().unwrap();
    assert!(is_new);
    assert_eq!(count(connection), 1);
}

#[test]
fn every_wait_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = new_file(folder.path());
    let holder = open_read_write(&path, WAIT).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    for wait in [WAIT, BusyWait::None, BusyWait::Timeout(Duration::from_millis(5))] {
        let connection = open_read_write(&path, wait).unwrap();
        let busy = connection.execute_batch("BEGIN IMMEDIATE").unwrap_err();
        assert!(is_busy(&busy), "{wait:?}");
        let stays = set_journal_mode(&connection, JournalMode::Delete, wait).unwrap_err();
        assert!(is_busy(&stays), "{wait:?}");
    }
}

#[test]
fn a_checkpoint_empties_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = new_file(folder.path());
    let connection = open_read_write(&path, WAIT).unwrap();
    connection.execute("INSERT INTO t VALUES (2)", []).unwrap();
    checkpoint(&connection, Checkpoint::Passive, WAIT).unwrap();
    checkpoint(&connection, Checkpoint::Truncate, WAIT).unwrap();
    let log = crate::file::with_suffix(&path, "-wal");
    assert_eq!(fs::metadata(log).unwrap().len(), 0);
}
