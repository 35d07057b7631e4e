//! The schema of the history file, its versions, and the mark that the file is ours.

use openclaw_sqlite::{Ownership, Schema};

/// One step per version, applied in order; a file remembers how many it has seen.
const STEPS: &[&str] = &["
    CREATE TABLE entries (
        id INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        kind TEXT NOT NULL,
        run_id TEXT,
        agent TEXT,
        session_key TEXT,
        profile TEXT,
        once TEXT UNIQUE,
        record_json TEXT NOT NULL
    ) STRICT;
    CREATE INDEX entries_of_run ON entries (run_id) WHERE run_id IS NOT NULL;
    CREATE INDEX entries_of_session ON entries (session_key) WHERE session_key IS NOT NULL;
    CREATE INDEX entries_of_windows ON entries (profile) WHERE kind = 'window';
"];

/// The schema of the history; the file names `ocfh` as its owner in its header.
pub(crate) const SCHEMA: Schema = Schema {
    ownership: Ownership::ApplicationId(0x6f63_6668),
    steps: STEPS,
};
