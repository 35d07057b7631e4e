//! Many real processes on one store: how long they wait, who gets how much, and what a kill leaves.
//!
//! `cargo bench -p openclaw-auth-store --bench processes -- [rounds]`; without `rounds` a writer is killed 200 times.

#![expect(clippy::expect_used, reason = "a measurement that cannot be made ends here")]

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use openclaw_auth_store::{Credential, ProfileStore, Secret, SqliteAuthStore, UsageChange, UsageStore};
use openclaw_classify::Reason;
use openclaw_cooldown::{CooldownConfig, FailureEvent, MarkScope};
use openclaw_ids::{AgentId, ProfileId, ProviderId};
use tokio::runtime::{Builder, Runtime};

const WRITERS: usize = 8;
const MARKS: u64 = 500;
const ROUNDS: u64 = 200;
/// Between two marks of a writer that is killed, so that each opens a later window.
const HOURS: i64 = 2;
/// What tells a started process that it is one.
const WRITER: &str = "writer";

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [WRITER, folder, marks, hours] => write_marks(
            Path::new(folder),
            marks.parse().unwrap_or(u64::MAX),
            hours.parse().unwrap_or_default(),
        ),
        words if words.contains(&"--bench") => {
            let rounds = words.iter().find_map(|word| word.parse().ok()).unwrap_or(ROUNDS);
            contend()?;
            kill(rounds)
        }
        // Not asked to measure, as when everything is only built and tested.
        _ => Ok(()),
    }
}

fn at(hour: i64) -> Timestamp {
    Timestamp::from_second(1_750_000_000 + hour * 3_600).unwrap_or(Timestamp::UNIX_EPOCH)
}

fn profile() -> ProfileId {
    ProfileId::try_new("openai:default").expect("an id")
}

fn openai() -> ProviderId {
    ProviderId::try_new("openai").expect("an id")
}

fn open(folder: &Path) -> SqliteAuthStore {
    let config = CooldownConfig::default();
    SqliteAuthStore::open(folder, &AgentId::main(), Vec::new(), config, at(0)).expect("a store")
}

fn runtime() -> Runtime {
    Builder::new_current_thread().build().expect("a runtime")
}

/// How often the profile failed, and when it may be used again, in Unix seconds.
fn known(store: &SqliteAuthStore) -> (u64, i64) {
    let snapshot = store.snapshot();
    let usage = snapshot.usage(&profile());
    let until = usage
        .windows
        .values()
        .map(|window| window.until.as_second())
        .max();
    let failures = usage.failure_counts.get(&Reason::RateLimit).copied();
    (failures.unwrap_or_default(), until.unwrap_or_default())
}

/// Marks, and says after each mark when the profile may be used again and how many microseconds the mark took.
fn write_marks(folder: &Path, marks: u64, hours: i64) -> io::Result<()> {
    let (store, runtime, mut out) = (open(folder), runtime(), io::stdout().lock());
    let start = i64::try_from(known(&store).0).unwrap_or_default();
    for (hour, _) in (start..).zip(0..marks) {
        let now = at(hour * hours);
        let event = FailureEvent {
            provider: openai(),
            reason: Reason::RateLimit,
            scope: MarkScope::Profile,
            model: None,
            hint: None,
            started_at: Some(now),
        };
        let mark = UsageChange::Failure {
            profile: profile(),
            event,
        };
        let begun = clock();
        runtime.block_on(store.commit(mark, now)).expect("a mark");
        let waited = begun.elapsed().as_micros();
        writeln!(out, "{} {waited}", known(&store).1)?;
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "this program measures")]
fn clock() -> Instant {
    Instant::now()
}

fn start(folder: &Path, marks: u64, hours: i64) -> io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .arg(WRITER)
        .arg(folder)
        .args([marks.to_string(), hours.to_string()]);
    command.stdout(Stdio::piped()).spawn()
}

fn new_store() -> (tempfile::TempDir, SqliteAuthStore) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = open(folder.path());
    let key = Credential::api_key(openai(), Secret::new("sk-1"));
    runtime()
        .block_on(store.upsert(profile(), key, at(0)))
        .expect("a profile");
    (folder, store)
}

/// The numbers of one line of a writer; a line that a kill has cut is none.
fn numbers(line: &str) -> Option<(i64, u64)> {
    let (until, waited) = line.strip_suffix('\n')?.split_once(' ')?;
    Some((until.parse().ok()?, waited.parse().ok()?))
}

/// Eight writers at once: nothing is lost, and nobody waits long or gets little.
fn contend() -> io::Result<()> {
    let (folder, store) = new_store();
    let begun = clock();
    let children: Vec<_> = (0..WRITERS)
        .map(|_| start(folder.path(), MARKS, 0))
        .collect::<Result<_, _>>()?;
    let readers: Vec<_> = children
        .into_iter()
        .map(|mut child| {
            std::thread::spawn(move || {
                let lines = child
                    .stdout
                    .take()
                    .into_iter()
                    .flat_map(|out| BufReader::new(out).lines());
                let marks: Vec<_> = lines
                    .filter_map(|line| Some((numbers(&format!("{}\n", line.ok()?))?.1, clock())))
                    .collect();
                child.wait().map(|_| marks)
            })
        })
        .collect();
    let writers: Vec<Vec<(u64, Instant)>> = readers
        .into_iter()
        .map(|reader| reader.join().expect("a reader"))
        .collect::<Result<_, _>>()?;
    let took = begun.elapsed();
    store.refresh().expect("a look");
    let total = known(&store).0;
    let first_done = writers.iter().filter_map(|marks| Some(marks.last()?.1)).min();
    let all_started = writers.iter().filter_map(|marks| Some(marks.first()?.1)).max();
    let together = |at: Instant| Some(at) <= first_done && Some(at) >= all_started;
    let shares: Vec<usize> = writers
        .iter()
        .map(|marks| marks.iter().filter(|(_, at)| together(*at)).count())
        .collect();
    let mut waits: Vec<u64> = writers.iter().flatten().map(|(waited, _)| *waited).collect();
    waits.sort_unstable();
    let (median, worst) = (waits.get(waits.len() / 2), waits.last());
    report(&format!(
        "{WRITERS} writers x {MARKS} marks: {total} of {} stored in {took:?}; a mark took {} us in the middle and {} us at worst; \
         while all wrote, they got {shares:?}",
        MARKS * WRITERS as u64,
        median.unwrap_or(&0),
        worst.unwrap_or(&0),
    ))
}

/// Writers that are killed somewhere: what was acknowledged is there, and no window is shorter.
fn kill(rounds: u64) -> io::Result<()> {
    let (folder, store) = new_store();
    drop(store);
    let mut marks = 0;
    let mut dice: u64 = 0x9e37_79b9_7f4a_7c15;
    for round in 0..rounds {
        dice = dice
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let before = known(&open(folder.path())).0;
        let mut child = start(folder.path(), u64::MAX, HOURS)?;
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let (mut acknowledged, mut until) = (0, 0);
        let mut line = String::new();
        // Not always at the end of a mark.
        let lines = (dice >> 33) % 20;
        while acknowledged < lines && out.read_line(&mut line)? > 0 {
            acknowledged += 1;
            until = numbers(&line).map_or(until, |(until, _)| until);
            line.clear();
        }
        std::thread::park_timeout(Duration::from_micros((dice >> 20) % 500));
        child.kill()?;
        child.wait()?;
        while out.read_line(&mut line)? > 0 {
            if let Some((shown, _)) = numbers(&line) {
                acknowledged += 1;
                until = shown;
            }
            line.clear();
        }
        let (after, stored_until) = known(&open(folder.path()));
        assert!(
            after >= before + acknowledged,
            "round {round}: {after} < {before} + {acknowledged}"
        );
        assert!(stored_until >= until, "round {round}: {stored_until} < {until}");
        marks = after;
    }
    let files = fs::read_dir(folder.path())?.count();
    report(&format!(
        "{rounds} kills: every acknowledged mark of {marks} and every window was there; {files} files"
    ))
}

fn report(line: &str) -> io::Result<()> {
    writeln!(io::stdout(), "{line}")
}
