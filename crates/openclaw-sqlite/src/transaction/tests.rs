use super::*;

fn count(connection: &Connection) -> i64 {
    connection
        .query_row("SELECT count(*) FROM t", [], |row| row.get(0))
        .unwrap()
}

#[test]
fn a_failed_write_is_rolled_back() {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch("CREATE TABLE t (x)").unwrap();
    let insert = |connection: &Connection| connection.execute("INSERT INTO t VALUES (1)", []);
    immediate(&connection, insert).unwrap();
    let failed: rusqlite::Result<()> = immediate(&connection, |connection| {
        insert(connection)?;
        Err(rusqlite::Error::InvalidQuery)
    });
    assert!(failed.is_err());
    assert_eq!(count(&connection), 1);
}

#[test]
fn a_consistent_read_leaves_no_trace() {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch("CREATE TABLE t (x)").unwrap();
    consistent_read(&connection, |connection| {
        connection.execute("INSERT INTO t VALUES (1)", [])
    })
    .unwrap();
    assert_eq!(count(&connection), 0);
}

#[test]
fn only_commits_of_other_connections_change_the_data_version() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d.sqlite");
    let (first, second) = (Connection::open(&path).unwrap(), Connection::open(&path).unwrap());
    first.execute_batch("CREATE TABLE t (x)").unwrap();
    let before = data_version(&first).unwrap();
    first.execute_batch("INSERT INTO t VALUES (1)").unwrap();
    assert_eq!(data_version(&first).unwrap(), before);
    second.execute_batch("INSERT INTO t VALUES (2)").unwrap();
    assert_ne!(data_version(&first).unwrap(), before);
}
