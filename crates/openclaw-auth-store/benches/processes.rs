//! Measures many real processes on one store, beside bare loops: waiting times, fairness, and what a kill leaves.
//!
//! `cargo bench -p openclaw-auth-store --bench processes -- [rounds]`; without `rounds` a writer is killed 200 times.

#![expect(clippy::expect_used, reason = "a measurement that cannot be made ends here")]

use std::fs;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use openclaw_auth_store::{Credential, ProfileStore, Secret, SqliteAuthStore, UsageChange, UsageStore};
use openclaw_classify::Reason;
use openclaw_cooldown::{CooldownConfig, FailureEvent, MarkScope};
use openclaw_ids::{AgentId, ProfileId, ProviderId};
use rusqlite::{Connection, params};
use tokio::runtime::{Builder, Runtime};

const WRITERS: usize = 8;
const MARKS: u64 = 4_000;
const ROUNDS: u64 = 200;
/// How often the comparison is repeated.
const REPEATS: usize = 5;
/// Between two marks of a writer that is killed, so that each opens a later window.
const HOURS: i64 = 2;
/// The environment variable that makes a started process a writer, of changes or of the same rows without a store.
const WRITER: &str = "writer";
const BARE: &str = "bare";
/// The rows that a change updates: OpenClaw's and our own.
const ROWS: [[&str; 2]; 2] = [
    [
        "SELECT state_json FROM auth_profile_state WHERE state_key = 'primary'",
        "UPDATE auth_profile_state SET state_json = ?1, updated_at = ?2 WHERE state_key = 'primary'",
    ],
    [
        "SELECT value_json FROM failover_state WHERE key = 'usage:openai:default'",
        "UPDATE failover_state SET value_json = ?1, updated_at = ?2 WHERE key = 'usage:openai:default'",
    ],
];

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [WRITER, folder, marks, hours] => write_marks(
            Path::new(folder),
            marks.parse().unwrap_or(u64::MAX),
            hours.parse().unwrap_or_default(),
        ),
        [BARE, folder, marks, _] => write_rows(Path::new(folder), marks.parse().unwrap_or(u64::MAX)),
        words if words.contains(&"--bench") => {
            let rounds = words.iter().find_map(|word| word.parse().ok()).unwrap_or(ROUNDS);
            for _ in 0..REPEATS {
                contend()?;
            }
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

/// Writes changes, and reports for each when the profile may be used again, how many microseconds it took and when it
/// was done: at once for a writer that is killed, at the end for one that races.
fn write_marks(folder: &Path, marks: u64, hours: i64) -> io::Result<()> {
    let (store, runtime) = (open(folder), runtime());
    let mut out: Box<dyn Write> = if hours == 0 {
        Box::new(BufWriter::with_capacity(1 << 20, io::stdout().lock()))
    } else {
        Box::new(io::stdout().lock())
    };
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
        writeln!(out, "{} {waited} {}", known(&store).1, microsecond())?;
    }
    out.flush()
}

/// Reads, parses and writes back the rows of a mark, as often as the others write changes, with the same report.
fn write_rows(folder: &Path, marks: u64) -> io::Result<()> {
    let file = Connection::open(folder.join("openclaw-agent.sqlite")).expect("the file");
    file.busy_timeout(Duration::from_secs(30)).expect("a timeout");
    file.pragma_update(None, "synchronous", "NORMAL")
        .expect("a pragma");
    let mut out = BufWriter::with_capacity(1 << 20, io::stdout().lock());
    for clock in 0..marks {
        let begun = self::clock();
        file.execute_batch("BEGIN IMMEDIATE").expect("a transaction");
        for [select, update] in ROWS {
            let read = file.prepare_cached(select);
            let text: String = read
                .and_then(|mut read| read.query_row([], |row| row.get(0)))
                .expect("the row");
            let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            value["clock"] = clock.into();
            let write = file.prepare_cached(update);
            write
                .and_then(|mut write| write.execute(params![value.to_string(), clock.cast_signed()]))
                .expect("an update");
        }
        file.execute_batch("COMMIT").expect("a commit");
        writeln!(out, "0 {} {}", begun.elapsed().as_micros(), microsecond())?;
    }
    out.flush()
}

#[expect(clippy::disallowed_methods, reason = "this program measures")]
fn clock() -> Instant {
    Instant::now()
}

/// The time in microseconds, the same for all processes.
#[expect(clippy::disallowed_methods, reason = "this program measures")]
fn microsecond() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

fn start(what: &str, folder: &Path, marks: u64, hours: i64) -> io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .arg(what)
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

/// One line of a writer.
struct Mark {
    until: i64,
    waited: u64,
    at: u64,
}

impl Mark {
    /// A line that a kill has cut is ignored.
    fn read(line: &str) -> Option<Self> {
        let mut words = line.strip_suffix('\n')?.split(' ');
        let mut word = || words.next();
        Some(Self {
            until: word()?.parse().ok()?,
            waited: word()?.parse().ok()?,
            at: word()?.parse().ok()?,
        })
    }
}

/// The results of the writers of one kind.
struct Race {
    writers: Vec<Vec<Mark>>,
}

impl Race {
    /// Starts eight at once and waits for all.
    fn run(what: &str, folder: &Path) -> io::Result<Self> {
        let children: Vec<_> = (0..WRITERS)
            .map(|_| start(what, folder, MARKS, 0))
            .collect::<Result<_, _>>()?;
        let readers: Vec<_> = children
            .into_iter()
            .map(|mut child| {
                std::thread::spawn(move || {
                    let lines = child.stdout.take().into_iter();
                    let lines = lines.flat_map(|out| BufReader::new(out).lines());
                    let marks: Vec<_> = lines
                        .filter_map(|line| Mark::read(&format!("{}\n", line.ok()?)))
                        .collect();
                    child.wait().map(|_| marks)
                })
            })
            .collect();
        let writers = readers.into_iter().map(|reader| reader.join().expect("a reader"));
        Ok(Self {
            writers: writers.collect::<io::Result<_>>()?,
        })
    }

    /// Marks per second over all writers, from the first to the last.
    fn rate(&self) -> u64 {
        let times = || self.writers.iter().flatten().map(|mark| mark.at);
        let (Some(first), Some(last)) = (times().min(), times().max()) else {
            return 0;
        };
        times().count() as u64 * 1_000_000 / last.saturating_sub(first).max(1)
    }

    /// The share of each while all wrote.
    fn shares(&self) -> Vec<usize> {
        let first_done = self
            .writers
            .iter()
            .filter_map(|marks| Some(marks.last()?.at))
            .min();
        let all_started = self
            .writers
            .iter()
            .filter_map(|marks| Some(marks.first()?.at))
            .max();
        let together = |mark: &&Mark| Some(mark.at) <= first_done && Some(mark.at) >= all_started;
        let share = |marks: &Vec<Mark>| marks.iter().filter(together).count();
        self.writers.iter().map(share).collect()
    }

    /// The median and the worst wait, in microseconds.
    fn waits(&self) -> (u64, u64) {
        let mut waits: Vec<u64> = self.writers.iter().flatten().map(|mark| mark.waited).collect();
        waits.sort_unstable();
        let middle = waits.get(waits.len() / 2).copied().unwrap_or_default();
        (middle, waits.last().copied().unwrap_or_default())
    }
}

/// Eight writers at once: nothing is lost, no writer waits long or gets a small share. Beside it the same rows without
/// a store.
fn contend() -> io::Result<()> {
    let (folder, store) = new_store();
    let marks = Race::run(WRITER, folder.path())?;
    store.refresh().expect("a look");
    let total = known(&store).0;
    drop(store);
    let bare = Race::run(BARE, folder.path())?;
    let ((middle, worst), (bare_middle, bare_worst)) = (marks.waits(), bare.waits());
    report(&format!(
        "{WRITERS} writers x {MARKS} marks: {total} of {} stored, {}/s; a mark took {middle} us in the middle and {worst} us at \
         worst; while all wrote, they got {:?}",
        MARKS * WRITERS as u64,
        marks.rate(),
        marks.shares(),
    ))?;
    report(&format!(
        "{WRITERS} bare loops x {MARKS}: {}/s; a round took {bare_middle} us in the middle and {bare_worst} us at worst; while all \
         wrote, they got {:?}; marks per bare round: {}.{:02}",
        bare.rate(),
        bare.shares(),
        marks.rate() / bare.rate().max(1),
        marks.rate() * 100 / bare.rate().max(1) % 100,
    ))
}

/// Writers that are killed at any point: acknowledged changes are kept, and no window is shortened.
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
        let mut child = start(WRITER, folder.path(), u64::MAX, HOURS)?;
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let (mut acknowledged, mut until) = (0, 0);
        let mut line = String::new();
        // Not always at the end of a change.
        let lines = (dice >> 33) % 20;
        while acknowledged < lines && out.read_line(&mut line)? > 0 {
            acknowledged += 1;
            until = Mark::read(&line).map_or(until, |mark| mark.until);
            line.clear();
        }
        std::thread::park_timeout(Duration::from_micros((dice >> 20) % 500));
        child.kill()?;
        child.wait()?;
        while out.read_line(&mut line)? > 0 {
            if let Some(mark) = Mark::read(&line) {
                acknowledged += 1;
                until = mark.until;
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
