//! Several real processes on one file.

use std::process::{Child, Command, Stdio};

use openclaw_classify::Reason;

use super::*;

/// Tells a process of this test binary how many marks to make and where; unset in the process that runs the tests.
const PART: &str = "OPENCLAW_TEST_PART";
const PROCESSES: u64 = 3;
const MARKS: u64 = 100;

/// The part that a started process plays; as a test among the others it only looks whether it has one.
#[test]
fn part() {
    #[expect(clippy::disallowed_methods, reason = "how a started process learns its part")]
    let Ok(part) = std::env::var(PART) else {
        return;
    };
    let (marks, folder) = part.split_once(' ').unwrap();
    let store = open(Path::new(folder)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for _ in 0..marks.parse().unwrap() {
        let mark = failure("a", Reason::Overloaded, Some("m"), 1);
        runtime.block_on(store.commit(mark, at(1))).unwrap();
    }
}

fn start(marks: u64, folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "sqlite::tests::processes::part"])
        .env(PART, format!("{marks} {}", folder.display()))
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[tokio::test]
async fn no_mark_is_lost_between_processes() {
    let (folder, store) = with_profiles().await;
    let children: Vec<_> = (0..PROCESSES).map(|_| start(MARKS, folder.path())).collect();
    for _ in 0..MARKS {
        store
            .commit(failure("a", Reason::Overloaded, Some("m"), 1), at(1))
            .await
            .unwrap();
    }
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    store.refresh().unwrap();
    let snapshot = store.snapshot();
    let counts = &snapshot.usage(&profile("a")).failure_counts;
    assert_eq!(counts.get(&Reason::Overloaded), Some(&((PROCESSES + 1) * MARKS)));
}

#[tokio::test]
async fn a_killed_process_leaves_a_file_that_the_others_go_on_with() {
    let (folder, store) = with_profiles().await;
    let file = outside(folder.path());
    let marks = || -> i64 {
        let sql = "SELECT state_json -> '$.usageStats.a.failureCounts.overloaded' FROM auth_profile_state";
        let count: Option<String> = file.query_row(sql, [], |row| row.get(0)).unwrap_or_default();
        count.map_or(0, |count| count.parse().unwrap())
    };
    for _ in 0..3 {
        let known = marks();
        // It has far more to do than it gets done.
        let mut child = start(1_000_000, folder.path());
        eventually("a mark of the other process", || marks() > known);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let before = marks();
    store
        .commit(failure("a", Reason::Overloaded, Some("m"), 1), at(1))
        .await
        .unwrap();
    assert_eq!(marks(), before + 1);
    assert_eq!(text(&file, "PRAGMA integrity_check"), "ok");
    drop(store);
    open(folder.path()).unwrap();
}
