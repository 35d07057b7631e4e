//! Several real processes on one file.

use std::process::{Child, Command, Stdio};

use jiff::Timestamp;
use openclaw_classify::Reason;
use serde_json::json;

use super::*;
use crate::store::conformance::NOW;
use crate::{
    AuthConfig, Demand, Oauth, RefreshHost, Refresher, RenewedLogin, Secret, TokenEndpoint,
    TokenEndpointError,
};

/// The variable that gives a process of this test binary its part; unset in the process that runs the tests.
const PART: &str = "OPENCLAW_TEST_PART";
const PROCESSES: usize = 4;
const MARKS: u64 = 600;

/// The part that a started process plays; without the variable this test does nothing.
#[test]
fn part() {
    #[expect(clippy::disallowed_methods, reason = "how a started process learns its part")]
    let Ok(part) = std::env::var(PART) else {
        return;
    };
    let (what, folder) = part.split_once(' ').unwrap();
    let folder = Path::new(folder);
    let store = open(folder).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    match what {
        "probe" => runtime.block_on(probe(folder, &store)),
        "refresh" => runtime.block_on(refresh(folder, &store)),
        marks => runtime.block_on(mark(folder, &store, marks.parse().unwrap())),
    }
}

/// Writes changes, and records after each how many were acknowledged.
async fn mark(folder: &Path, store: &SqliteAuthStore, marks: u64) {
    let acknowledged = folder.join(format!("acknowledged-{}", std::process::id()));
    for _ in 0..marks {
        let mark = failure("a", Reason::Overloaded, Some("m"), 1);
        store.commit(mark, at(1)).await.unwrap();
        // One byte per mark: a kill cannot cut it.
        append(&acknowledged, b".");
    }
}

fn append(path: &Path, bytes: &[u8]) {
    let mut file = std::fs::OpenOptions::new();
    let mut file = file.create(true).append(true).open(path).unwrap();
    std::io::Write::write_all(&mut file, bytes).unwrap();
}

fn start(what: &str, folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "sqlite::tests::processes::part"])
        .env(PART, format!("{what} {}", folder.display()))
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

fn marks_in(file: &Connection) -> u64 {
    let sql = "SELECT state_json -> '$.usageStats.a.failureCounts.overloaded' FROM auth_profile_state";
    let count: Option<String> = file.query_row(sql, [], |row| row.get(0)).unwrap_or_default();
    count.map_or(0, |count| count.parse().unwrap())
}

fn acknowledged(folder: &Path, process: u32) -> u64 {
    std::fs::metadata(folder.join(format!("acknowledged-{process}"))).map_or(0, |file| file.len())
}

#[tokio::test]
async fn no_mark_is_lost_between_processes_and_none_starves() {
    let (folder, store) = with_profiles().await;
    // They write until the first one is done; then none may be far behind.
    let mut children: Vec<_> = (0..PROCESSES).map(|_| start("1000000", folder.path())).collect();
    let done = |child: &Child| acknowledged(folder.path(), child.id());
    eventually("a first mark of every process", || {
        children.iter().all(|child| done(child) > 0)
    });
    let before: Vec<_> = children.iter().map(done).collect();
    let during = || -> Vec<u64> {
        children
            .iter()
            .zip(&before)
            .map(|(child, before)| done(child) - before)
            .collect()
    };
    eventually("some marks of one of them", || {
        during().into_iter().max() >= Some(MARKS)
    });
    let during = during();
    for child in &mut children {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let mean = during.iter().sum::<u64>() / during.len() as u64;
    assert!(during.iter().all(|marks| marks * 2 >= mean), "{during:?}");
    let all: u64 = children.iter().map(done).sum();
    store.refresh().unwrap();
    let counted = store.snapshot().usage(&profile("a")).failure_counts[&Reason::Overloaded];
    // Each may have been killed between a change and its record.
    assert!(
        (all..=all + PROCESSES as u64).contains(&counted),
        "{all} {counted}"
    );
}

#[tokio::test]
async fn bl_74_a_killed_process_leaves_every_mark_that_was_acknowledged() {
    let (folder, store) = with_profiles().await;
    let file = outside(folder.path());
    for round in 0..8 {
        let known = marks_in(&file);
        // It has far more to write than it can finish.
        let mut child = start("1000000", folder.path());
        eventually("marks of the other process", || marks_in(&file) > known + round);
        child.kill().unwrap();
        child.wait().unwrap();
        let acknowledged = acknowledged(folder.path(), child.id());
        assert!(marks_in(&file) >= known + acknowledged, "round {round}");
        assert_eq!(text(&file, "PRAGMA integrity_check"), "ok");
    }
    let before = marks_in(&file);
    store
        .commit(failure("a", Reason::Overloaded, Some("m"), 1), at(1))
        .await
        .unwrap();
    assert_eq!(marks_in(&file), before + 1);
    drop(store);
    open(folder.path()).unwrap();
}

/// A process whose clock stands, and which waits a tenth of what it should.
struct Host;

impl RefreshHost for Host {
    fn now(&self) -> Timestamp {
        at(0)
    }

    async fn sleep(&self, duration: Duration) {
        // The time that a call may take does not pass.
        if duration >= Duration::from_secs(20) {
            std::future::pending::<()>().await;
        }
        thread::park_timeout(duration / 10);
    }

    fn random(&self) -> u64 {
        std::process::id().into()
    }
}

/// A provider that records each call where all processes see it.
struct Provider<'a>(&'a Path);

impl TokenEndpoint for Provider<'_> {
    async fn refresh(&self, login: &Oauth) -> Result<Option<RenewedLogin>, TokenEndpointError> {
        assert_eq!(login.refresh.as_ref().map(Secret::expose), Some("r"), "used once");
        append(&self.0.join("calls"), b".");
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        Ok(Some(RenewedLogin {
            access: Some(Secret::new("new")),
            refresh: Some(Secret::new("next")),
            expires: Some(at(3_600)),
            ..RenewedLogin::default()
        }))
    }
}

async fn refresh(folder: &Path, store: &SqliteAuthStore) {
    append(&folder.join("ready"), b".");
    eventually("the others", || {
        std::fs::metadata(folder.join("ready")).unwrap().len() == 8
    });
    let refresher = Refresher::new(folder, Provider(folder), Host);
    let login = refresher
        .login(store, &AuthConfig::default(), &profile("login"), Demand::Usable)
        .await;
    assert_eq!(login.unwrap().unwrap().access.unwrap().expose(), "new");
}

#[tokio::test]
async fn o4_bl_72_eight_processes_refresh_an_expiring_login_with_one_call() {
    let (folder, store) = with_profiles().await;
    let login =
        json!({"type": "oauth", "provider": "openai", "access": "old", "refresh": "r", "expires": NOW});
    let login = Credential::from_json(&login).unwrap();
    store.upsert(profile("login"), login, at(0)).await.unwrap();
    let children: Vec<_> = (0..8).map(|_| start("refresh", folder.path())).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(std::fs::metadata(folder.path().join("calls")).unwrap().len(), 1);
    store.refresh().unwrap();
    let snapshot = store.snapshot();
    let stored = snapshot.stored_login(&profile("login")).unwrap();
    assert_eq!(stored.refresh.unwrap().expose(), "next");
    assert!(snapshot.refreshes.is_empty());
}

/// Asks for the provider's probe, and records whether it was granted.
async fn probe(folder: &Path, store: &SqliteAuthStore) {
    let holder = std::process::id().to_string();
    let provider = "openai".parse().unwrap();
    let asked = store
        .commit(UsageChange::ProbeStart { provider, holder }, at(1))
        .await
        .unwrap();
    let note = if asked == ChangeOutcome::HeldElsewhere {
        "refused"
    } else {
        "granted"
    };
    append(&folder.join(note), b".");
}

#[tokio::test]
async fn g4_bl_42_of_eight_processes_that_probe_a_provider_one_does() {
    let (folder, store) = with_profiles().await;
    let children: Vec<_> = (0..8).map(|_| start("probe", folder.path())).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let notes = |note: &str| std::fs::metadata(folder.path().join(note)).map_or(0, |file| file.len());
    assert_eq!((notes("granted"), notes("refused")), (1, 7));
    store.refresh().unwrap();
    let lease = store.snapshot().probes.values().next().unwrap().lease.clone();
    assert!(lease.is_some(), "its holder crashed without giving it back");
}
