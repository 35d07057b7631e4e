//! What is kept of decisions and windows, and for how long.

use std::path::Path;
use std::time::Duration;

use openclaw_classify::Reason;
use openclaw_ids::AgentId;
use openclaw_runner::{ErrorFields, RotationDecision, RotationKind, RunEvent};
use tempfile::TempDir;

use super::*;
use crate::entry::{BrokenAnswer, CooldownTarget, Record, RunNote, RunOutcome, WindowChange, WindowNote};

const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;
const RETENTION: Retention = Retention {
    age: Duration::from_hours(14 * 24),
    bytes: 128 << 20,
};

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap()
}

fn run(id: &str, ms: i64) -> Entry {
    run_of(id, ms, "main", None)
}

fn run_of(id: &str, ms: i64, agent: &str, session: Option<&str>) -> Entry {
    Entry {
        at: at(ms),
        record: Record::Run(Box::new(RunNote {
            run_id: id.to_owned(),
            agent: AgentId::new(agent),
            session_key: session.map(|key| key.parse().unwrap()),
            session_id: None,
            wire: "OpenAI chat completions".to_owned(),
            chain: vec!["a/m".parse().unwrap(), "b/m".parse().unwrap()],
            started_at: at(ms - 5),
            outcome: RunOutcome::Answered,
            calls: 2,
            served: Some("b/m".parse().unwrap()),
            fallback_index: Some(1),
            first_failure: Some(Reason::RateLimit),
        })),
    }
}

fn rotation(id: &str, ms: i64) -> Entry {
    Entry {
        at: at(ms),
        record: Record::Event(Box::new(RunEvent::Rotation(std::sync::Arc::new(
            RotationDecision {
                run_id: id.to_owned(),
                kind: RotationKind::FallbackModel,
                reason: Reason::RateLimit,
                candidate: "a/m".parse().unwrap(),
                profile_hash: "0123456789ab".to_owned(),
                auth_mode: None,
                status: Some(429),
                error: ErrorFields::default(),
                redirected_to: None,
                rests_until: None,
                elapsed: Duration::ZERO,
            },
        )))),
    }
}

fn window(profile: &str, opened: i64, change: WindowChange) -> Entry {
    Entry {
        at: at(opened),
        record: Record::Window(Box::new(WindowNote {
            agent: AgentId::main(),
            rested: CooldownTarget::Profile {
                profile: profile.parse().unwrap(),
                lane: "model:m".parse().unwrap(),
            },
            change,
            opened_at: at(opened),
            until: at(opened + MINUTE),
            reason: Reason::RateLimit,
            steps: 1,
            run_id: Some("r".to_owned()),
        })),
    }
}

fn open(state: &TempDir) -> History {
    open_with(state, Some(RETENTION), 0)
}

fn open_with(state: &TempDir, retention: Option<Retention>, now: i64) -> History {
    History::open(state.path(), retention, at(now)).unwrap()
}

fn reader(state: &TempDir) -> HistoryReader {
    HistoryReader::open(state.path()).unwrap().unwrap()
}

fn ids(runs: &[StoredRun]) -> Vec<&str> {
    runs.iter().map(|run| run.note.run_id.as_str()).collect()
}

#[tokio::test]
async fn a_file_that_is_removed_while_it_is_used_is_made_anew() {
    let state = TempDir::new().unwrap();
    let history = open(&state);
    history.record(&run("r1", 10));
    history.flush().await;
    let file = state.path().join("openclaw-failover-history.sqlite");
    for suffix in ["", "-wal", "-shm"] {
        drop(std::fs::remove_file(format!("{}{suffix}", file.display())));
    }
    history.record(&run("r2", 20));
    history.flush().await;
    let runs = reader(&state).runs(&RunFilter::default()).unwrap();
    assert_eq!(ids(&runs), ["r2"]);
}

#[test]
fn what_was_kept_is_found_after_a_restart() {
    let state = TempDir::new().unwrap();
    let history = open(&state);
    history.record(&rotation("r1", 10));
    history.record(&run_of("r1", 20, "main", Some("chat")));
    history.record(&Entry {
        at: at(30),
        record: Record::Broken(BrokenAnswer {
            run_id: "r1".to_owned(),
            reason: Some(Reason::Timeout),
            error: "cut".to_owned(),
        }),
    });
    history.record(&run_of("r2", 40, "ops", None));
    drop(history);

    drop(open(&state));
    let reader = reader(&state);
    let story = reader.story("r1").unwrap().unwrap();
    insta::assert_json_snapshot!("story", story);
    assert_eq!(reader.story("r3").unwrap(), None);
    let runs = |filter| {
        let runs = reader.runs(&filter).unwrap();
        ids(&runs).join(" ")
    };
    assert_eq!(runs(RunFilter::default()), "r1 r2");
    for (filter, found) in [
        (
            RunFilter {
                session: Some("chat".parse().unwrap()),
                ..RunFilter::default()
            },
            "r1",
        ),
        (
            RunFilter {
                agent: Some(AgentId::new("ops")),
                ..RunFilter::default()
            },
            "r2",
        ),
        (
            RunFilter {
                latest: Some(1),
                ..RunFilter::default()
            },
            "r2",
        ),
        (
            RunFilter {
                since: Some(at(40)),
                ..RunFilter::default()
            },
            "r2",
        ),
        (
            RunFilter {
                since: Some(at(41)),
                ..RunFilter::default()
            },
            "",
        ),
    ] {
        assert_eq!(runs(filter.clone()), found, "{filter:?}");
    }
}

#[test]
fn one_change_of_a_window_is_kept_once_however_many_saw_it() {
    let state = TempDir::new().unwrap();
    let (one, other) = (open(&state), open(&state));
    for history in [&one, &other, &one] {
        history.record(&window("a:x", 1_000, WindowChange::Opened));
    }
    other.record(&window("a:x", 2_000, WindowChange::Opened));
    other.record(&window("a:x", 2_000, WindowChange::Cleared));
    one.record(&window("a:y", 1_000, WindowChange::Opened));
    drop((one, other));

    let of = |profile: Option<&str>| {
        let filter = WindowFilter {
            profile: profile.map(|profile| profile.parse().unwrap()),
            ..WindowFilter::default()
        };
        reader(&state).windows(&filter).unwrap()
    };
    assert_eq!(of(None).len(), 4);
    let of_y = of(Some("a:y"));
    insta::assert_json_snapshot!("windows", of_y);
    let changes: Vec<WindowChange> = of(Some("a:x")).iter().map(|window| window.note.change).collect();
    assert!(changes.contains(&WindowChange::Cleared), "{changes:?}");
}

#[test]
fn what_is_too_old_is_forgotten() {
    let state = TempDir::new().unwrap();
    let history = open(&state);
    for day in 0..20 {
        history.record(&run(&format!("r{day}"), day * DAY));
    }
    drop(history);
    drop(open_with(&state, Some(RETENTION), 20 * DAY));
    let runs = reader(&state).runs(&RunFilter::default()).unwrap();
    assert_eq!(
        ids(&runs),
        [
            "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "r16", "r17", "r18", "r19"
        ]
    );
}

/// A gateway with little to do writes for weeks until it is asked for room.
#[tokio::test]
async fn what_becomes_too_old_is_forgotten_within_an_hour_of_entries() {
    let state = TempDir::new().unwrap();
    let history = open(&state);
    for (name, at) in [("old", 0), ("young", DAY), ("now", 14 * DAY + 1)] {
        history.record(&run(name, at));
        history.flush().await;
    }
    let runs = reader(&state).runs(&RunFilter::default()).unwrap();
    assert_eq!(ids(&runs), ["young", "now"]);
}

#[test]
fn what_a_clock_made_that_was_ahead_keeps_nothing_else_from_being_forgotten() {
    let state = TempDir::new().unwrap();
    let history = open(&state);
    history.record(&run("ahead", 100 * DAY));
    for number in 0..5_000 {
        history.record(&run(&format!("r{number}"), number));
    }
    drop(history);
    drop(open_with(&state, Some(RETENTION), 20 * DAY));
    let runs = reader(&state).runs(&RunFilter::default()).unwrap();
    assert_eq!(ids(&runs), ["ahead"]);
}

#[test]
fn the_oldest_make_room_and_the_file_gives_it_back() {
    let state = TempDir::new().unwrap();
    let small = Retention {
        bytes: 1 << 20,
        ..RETENTION
    };
    let history = open_with(&state, Some(small), 0);
    let count = 6_000;
    for number in 0..count {
        history.record(&run(&format!("r{number}"), number));
    }
    assert_eq!(history.dropped(), 0);
    drop(history);
    drop(open_with(&state, Some(small), 0));
    let runs = reader(&state).runs(&RunFilter::default()).unwrap();
    let (first, last) = (&runs[0].note.run_id, &runs[runs.len() - 1].note.run_id);
    assert!(runs.len() > 1_000 && first != "r0", "{} from {first}", runs.len());
    assert_eq!(*last, format!("r{}", count - 1));
    let size = std::fs::metadata(history_path(state.path())).unwrap().len();
    assert!(size <= 1 << 20, "{size}");
}

#[test]
fn switched_off_it_makes_no_file() {
    let state = TempDir::new().unwrap();
    let history = open_with(&state, None, 0);
    history.record(&run("r", 0));
    drop(history);
    assert!(!history_path(state.path()).exists());
    assert!(HistoryReader::open(state.path()).unwrap().is_none());
}

#[cfg(unix)]
#[test]
fn only_its_owner_may_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let state = TempDir::new().unwrap();
    let inner = state.path().join("new");
    let history = History::open(&inner, Some(RETENTION), at(0)).unwrap();
    history.record(&run("r", 0));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&inner), 0o700);
    for suffix in ["", "-wal", "-shm"] {
        let mut path = history_path(&inner).into_os_string();
        path.push(suffix);
        assert_eq!(mode(Path::new(&path)), 0o600, "{suffix}");
    }
}

type Make = Box<dyn Fn(&Path)>;

#[test]
fn a_file_that_cannot_be_used_is_left_as_it_is() {
    let foreign = |sql: &str| {
        let sql = sql.to_owned();
        move |path: &Path| {
            let connection = rusqlite::Connection::open(path).unwrap();
            connection.execute_batch(&sql).unwrap();
        }
    };
    let cases: Vec<(&str, Make)> = vec![
        (
            "damaged",
            Box::new(|path| std::fs::write(path, "no database".repeat(100)).unwrap()),
        ),
        (
            "something else",
            Box::new(foreign("CREATE TABLE notes (text TEXT)")),
        ),
        (
            "something else",
            Box::new(foreign(
                "CREATE TABLE entries (id INTEGER); PRAGMA user_version = 1",
            )),
        ),
        (
            "has schema 2, this version knows 1",
            Box::new(|path| {
                let state = path.parent().unwrap();
                drop(History::open(state, Some(RETENTION), at(0)).unwrap());
                let connection = rusqlite::Connection::open(path).unwrap();
                connection.execute_batch("PRAGMA user_version = 2").unwrap();
            }),
        ),
    ];
    for (said, make) in cases {
        let state = TempDir::new().unwrap();
        let path = history_path(state.path());
        make(&path);
        let before = std::fs::read(&path).unwrap();
        let error = History::open(state.path(), Some(RETENTION), at(0)).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
        let error = HistoryReader::open(state.path()).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), before, "{said}");

        let history = History::open_or_off(state.path(), Some(RETENTION), at(0));
        history.record(&run("r", 0));
        assert!(!history.is_on());
    }
}

#[tokio::test]
async fn too_many_entries_are_dropped_and_counted_without_a_wait() {
    let state = TempDir::new().unwrap();
    let history = open(&state);
    history.record(&run("first", 0));
    history.flush().await;
    let other = rusqlite::Connection::open(history_path(state.path())).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let count = 12_000;
    for number in 0..count {
        history.record(&run(&format!("r{number}"), number));
    }
    let dropped = usize::try_from(history.dropped()).unwrap();
    assert!(dropped >= 1_000, "{dropped}");
    other.execute_batch("ROLLBACK").unwrap();
    history.flush().await;
    assert_eq!(history.failed(), 0);
    let kept = reader(&state).runs(&RunFilter::default()).unwrap().len();
    assert_eq!(kept + dropped, 1 + usize::try_from(count).unwrap());
}

#[tokio::test]
async fn what_waits_is_bounded_in_bytes_and_its_room_comes_back() {
    let state = TempDir::new().unwrap();
    let history = open(&state);
    let large = |id: usize| Entry {
        at: at(0),
        record: Record::Broken(BrokenAnswer {
            run_id: format!("r{id}"),
            reason: None,
            error: "x".repeat(64 << 10),
        }),
    };
    let other = rusqlite::Connection::open(history_path(state.path())).unwrap();
    // Entries of 64 KiB: far fewer than may wait fill the room, as often as it was made.
    let fit = writer::QUEUE_BYTES / (64 << 10);
    for round in 1..=3 {
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let before = history.dropped();
        for id in 0..2 * fit {
            history.record(&large(id));
        }
        let dropped = usize::try_from(history.dropped() - before).unwrap();
        assert!(
            (fit..fit + 2).contains(&dropped),
            "{round}: {dropped} of {}",
            2 * fit
        );
        other.execute_batch("ROLLBACK").unwrap();
        history.flush().await;
    }
    assert_eq!(history.failed(), 0);
}
