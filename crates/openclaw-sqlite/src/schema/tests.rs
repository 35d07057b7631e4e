use super::*;

const STEPS: &[&str] = &[
    "CREATE TABLE notes (id INTEGER)",
    "ALTER TABLE notes ADD COLUMN text TEXT",
];
const BY_ID: Schema = Schema {
    ownership: Ownership::ApplicationId(7),
    steps: STEPS,
};
const BY_TABLE: Schema = Schema {
    ownership: Ownership::Object("notes"),
    steps: STEPS,
};

fn file(sql: &str) -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(sql).unwrap();
    connection
}

fn described(schema: &Schema, sql: &str) -> String {
    match schema.state(&file(sql)) {
        Ok(state) => format!("{state:?}"),
        Err(error) => error.to_string(),
    }
}

fn migrate(schema: &Schema, connection: &mut Connection) -> Option<u32> {
    let mut found = None;
    let migrated: Result<(), SchemaError> = schema.migrate(connection, |_, steps| {
        found = Some(steps);
        Ok(())
    });
    migrated.unwrap();
    found
}

#[test]
fn a_file_is_told_by_its_owner_its_version_and_its_objects() {
    let foreign = "the file is a database of another program";
    let newer = "the file has schema 3, and 2 is the newest known one";
    for (sql, by_id, by_table) in [
        ("", "Empty", "Empty"),
        ("CREATE TABLE t (x)", foreign, foreign),
        ("CREATE TABLE notes (x)", foreign, foreign),
        ("PRAGMA user_version = 1", foreign, foreign),
        ("PRAGMA user_version = 3", foreign, newer),
        ("PRAGMA application_id = 8", foreign, "Empty"),
        ("PRAGMA application_id = 7; PRAGMA user_version = 3", newer, newer),
        ("PRAGMA application_id = 7", "Older(0)", "Empty"),
        (
            "PRAGMA application_id = 7; PRAGMA user_version = 1; CREATE TABLE notes (x)",
            "Older(1)",
            "Older(1)",
        ),
        (
            "PRAGMA application_id = 7; PRAGMA user_version = 2; CREATE TABLE Notes (x)",
            "Current",
            "Current",
        ),
    ] {
        assert_eq!(described(&BY_ID, sql), by_id, "{sql}");
        assert_eq!(described(&BY_TABLE, sql), by_table, "{sql}");
    }
    let negative = described(&BY_TABLE, "PRAGMA user_version = -1");
    assert!(negative.contains("schema 4294967295"), "{negative}");
}

#[test]
fn a_migration_runs_the_missing_steps_once() {
    for schema in [BY_ID, BY_TABLE] {
        let mut new = file("");
        assert_eq!(migrate(&schema, &mut new), Some(0));
        assert_eq!(schema.state(&new).unwrap(), SchemaState::Current);
        assert_eq!(migrate(&schema, &mut new), None);
        let mut old = file(STEPS[0]);
        old.execute_batch("PRAGMA application_id = 7; PRAGMA user_version = 1")
            .unwrap();
        assert_eq!(migrate(&schema, &mut old), Some(1));
        old.execute("INSERT INTO notes VALUES (1, 'x')", []).unwrap();
    }
}

#[test]
fn a_migration_that_fails_changes_nothing() {
    let mut new = file("");
    let failed: Result<(), SchemaError> = BY_ID.migrate(&mut new, |_, _| Err(SchemaError::Foreign));
    assert!(failed.is_err());
    assert_eq!(BY_ID.state(&new).unwrap(), SchemaState::Empty);
}

#[test]
fn a_sound_file_passes_the_check() {
    quick_check(&file("CREATE TABLE t (x)")).unwrap();
}
