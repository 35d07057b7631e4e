//! What a session remembers of a probe of its primary stands for an attempt that began, however slow the stores are (S-6.5).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use openclaw_auth_store::{AuthSnapshot, MemoryAuthStore};
use openclaw_ids::SessionKey;
use openclaw_runner::{RunError, RunLimits, RunOptions, RunPolicy, Runner};
use openclaw_session::{MemorySessionStore, Revision, SessionStore};
use serde_json::Value;

use crate::cancel_kinds::{credentials, fallen_back, probing};
use crate::clock::PausedClock;
use crate::delayed::Delayed;
use crate::scenario::START;
use crate::script::{Answer, Script};

/// The time of the run; what is slow takes longer.
const LIMIT: Duration = Duration::from_millis(200);

/// How long writes take.
#[derive(Clone, Copy)]
struct Writes {
    usage: Duration,
    session: Duration,
}

/// What came of a turn that probes the primary.
struct Probed {
    calls: Vec<String>,
    outcome: Result<(Answer, usize), RunError>,
    /// When the session's primary was last probed, as it is stored.
    marks: Value,
}

async fn probe(usage: AuthSnapshot, writes: Writes) -> Probed {
    let start = Timestamp::from_second(START).unwrap();
    let policy = Arc::new(RunPolicy::default());
    let sessions = MemorySessionStore::default();
    let key: SessionKey = "agent:main:main".parse().unwrap();
    let stood = fallen_back(start);
    let stored = sessions.compare_and_set(&key, Revision::NONE, stood.clone());
    stored.await.unwrap();
    let request = probing(&key, &stood, start);
    let sessions = Arc::new(Delayed(sessions, writes.session));
    let usage = MemoryAuthStore::new(usage, policy.auth.cooldowns.clone());
    let runner = Runner::new(
        Arc::new(PausedClock::new(start)),
        Arc::new(Delayed(usage, writes.usage)),
        Arc::clone(&sessions),
        policy,
    );
    let options = RunOptions {
        limits: RunLimits {
            duration: Some(LIMIT),
            ..RunLimits::default()
        },
        ..RunOptions::default()
    };
    let script = Script::new(HashMap::new());
    let outcome = runner.run_with(request, options, &*script).await;
    let outcome = outcome.map(|done| (done.value, done.winner.index));
    let entry = sessions.load(&key).await.unwrap().unwrap().entry;
    Probed {
        calls: script.calls(),
        outcome,
        marks: serde_json::to_value(entry).unwrap()["failover"]["probes"].clone(),
    }
}

#[tokio::test(start_paused = true)]
async fn s_6_5_a_session_that_is_written_slowly_does_not_delay_its_primary() {
    let writes = Writes {
        usage: Duration::ZERO,
        session: 3 * LIMIT,
    };
    let probed = probe(AuthSnapshot::default(), writes).await;
    assert_eq!(probed.calls, ["a/m @no profile -> ok"]);
    assert_eq!(probed.outcome.unwrap(), (Answer::Complete, 0));
    assert_eq!(probed.marks["a/m"], START * 1_000);
}

#[tokio::test(start_paused = true)]
async fn s_6_5_a8_a_primary_that_the_run_had_no_time_to_ask_is_not_marked_as_asked() {
    let policy = RunPolicy::default();
    let start = Timestamp::from_second(START).unwrap();
    let writes = Writes {
        usage: 3 * LIMIT,
        session: Duration::ZERO,
    };
    // The lease of the probe takes longer than the run.
    let probed = probe(credentials(start, &policy), writes).await;
    assert_eq!(probed.calls, [""; 0]);
    let Err(RunError::LimitReached(_, _, report)) = probed.outcome else {
        panic!("{:?}", probed.outcome.map(|(answer, _)| answer));
    };
    assert!(
        report.events.is_empty(),
        "nothing was probed: {:?}",
        report.events
    );
    assert_eq!(probed.marks, Value::Null);
}
