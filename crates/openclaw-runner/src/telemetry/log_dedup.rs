//! Suppresses repeated log lines of a login that stays broken.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use openclaw_classify::Reason;
use openclaw_ids::ModelRef;

use crate::machine::policy::is_auth;
use crate::record::decision::{Decision, DecisionKind};

/// Within this time of the last written line, an equal one is not written.
const QUIET: Duration = Duration::from_secs(30);
/// After this time, the count of lines that were not written is forgotten.
const FORGOTTEN: Duration = Duration::from_mins(1);
/// How many different lines are remembered.
const CAPACITY: usize = 100;

/// Whether a record is written to the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogAdmission {
    /// An equal one was written a moment ago.
    Suppress,
    /// It is written, and says how many equal ones were not since the last.
    Write {
        /// Their number.
        suppressed: u64,
    },
}

/// Remembers which records were written lately. Only failures and skips because of a login are ever held back.
#[derive(Debug, Default)]
pub struct LogDedup {
    written: HashMap<Key, WrittenLine>,
}

#[derive(Debug)]
struct WrittenLine {
    at: Timestamp,
    suppressed: u64,
}

/// What makes two records the same line.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    place: [Option<String>; 4],
    kind: &'static str,
    candidate: ModelRef,
    position: (usize, usize),
    reason: Reason,
    status: Option<u16>,
    error: [Option<Arc<str>>; 4],
    next: Option<ModelRef>,
    flags: [bool; 3],
}

impl LogDedup {
    /// Whether `decision`, made at `now`, is written.
    pub fn admit(&mut self, decision: &Decision, now: Timestamp) -> LogAdmission {
        let Some(key) = key(decision) else {
            return LogAdmission::Write { suppressed: 0 };
        };
        // In both directions: a clock that was set back must not hold lines back for long.
        let age = |written: &WrittenLine| now.duration_since(written.at).unsigned_abs();
        if let Some(written) = self.written.get_mut(&key) {
            let age = age(written);
            if age < QUIET {
                written.suppressed = written.suppressed.saturating_add(1);
                return LogAdmission::Suppress;
            }
            let suppressed = std::mem::take(&mut written.suppressed);
            written.at = now;
            return LogAdmission::Write {
                suppressed: if age < FORGOTTEN { suppressed } else { 0 },
            };
        }
        self.written.retain(|_, written| age(written) <= FORGOTTEN);
        if self.written.len() >= CAPACITY {
            let oldest = self.written.values().map(|written| written.at).min();
            self.written.retain(|_, written| Some(written.at) != oldest);
        }
        self.written.insert(
            key,
            WrittenLine {
                at: now,
                suppressed: 0,
            },
        );
        LogAdmission::Write { suppressed: 0 }
    }
}

/// None for records that are always written.
fn key(decision: &Decision) -> Option<Key> {
    let reason = decision.reason.filter(|reason| is_auth(*reason))?;
    match decision.kind {
        DecisionKind::CandidateFailed | DecisionKind::SkipCandidate => {}
        DecisionKind::CandidateSucceeded | DecisionKind::ProbeCooldownCandidate => return None,
    }
    let session = decision.session_id.as_ref().map(ToString::to_string);
    let error = &decision.error;
    Some(Key {
        place: [
            session.or_else(|| Some(decision.run_id.clone())),
            decision.lane.clone(),
            Some(decision.requested.provider.clone()),
            Some(decision.requested.model.clone()),
        ],
        kind: decision.kind.as_str(),
        candidate: decision.candidate.clone(),
        position: (decision.attempt, decision.total),
        reason,
        status: decision.status,
        error: [
            decision.code.as_deref().map(Arc::from),
            error.http_code.clone(),
            error.provider_error_type.clone(),
            error
                .error_fingerprint
                .clone()
                .or_else(|| error.error_hash.clone()),
        ],
        next: decision.next_candidate.clone(),
        flags: [
            decision.is_primary,
            decision.requested_model_matched,
            decision.fallback_configured,
        ],
    })
}

#[cfg(test)]
mod tests {
    use openclaw_chain::Requested;

    use super::*;
    use crate::record::error_fields::ErrorFields;

    fn decision(run: &str, kind: DecisionKind, reason: Reason) -> Decision {
        Decision {
            kind,
            run_id: run.to_owned(),
            session_id: None,
            lane: None,
            requested: Requested::default(),
            candidate: "openai/gpt".parse().unwrap(),
            attempt: 1,
            total: 2,
            reason: Some(reason),
            rule: None,
            status: Some(401),
            code: None,
            error: ErrorFields::default(),
            step: None,
            next_candidate: None,
            is_primary: true,
            requested_model_matched: true,
            fallback_configured: true,
            allow_transient_cooldown_probe: None,
            profile_count: None,
            last_resort: None,
            previous_attempts: Vec::new(),
            auth_mode: None,
            rests_until: None,
            elapsed: Duration::ZERO,
            suppressed_duplicate_count: 0,
        }
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millisecond(1_772_366_400_000 + millis).unwrap()
    }

    /// The admissions of equal records at these times.
    fn admitted(times: &[i64]) -> Vec<Option<u64>> {
        let mut coalescer = LogDedup::default();
        let record = decision("run", DecisionKind::CandidateFailed, Reason::Auth);
        let admit = |time: &i64| match coalescer.admit(&record, at(*time)) {
            LogAdmission::Suppress => None,
            LogAdmission::Write { suppressed } => Some(suppressed),
        };
        times.iter().map(admit).collect()
    }

    #[test]
    fn r_12_4_boundaries() {
        assert_eq!(admitted(&[0, 29_999, 30_000]), [Some(0), None, Some(1)]);
        assert_eq!(admitted(&[0, 1, 2, 59_999]), [Some(0), None, None, Some(2)]);
        assert_eq!(admitted(&[0, 1, 60_000, 60_001]), [Some(0), None, Some(0), None]);
        assert_eq!(admitted(&[0, 30_000, 60_000]), [Some(0), Some(0), Some(0)]);
        assert_eq!(admitted(&[0, -3_600_000]), [Some(0), Some(0)], "a clock set back");
    }

    #[test]
    fn r_12_4_only_failures_and_skips_because_of_a_login() {
        use DecisionKind::{CandidateFailed, CandidateSucceeded, ProbeCooldownCandidate, SkipCandidate};
        for (kind, reason, held_back) in [
            (CandidateFailed, Reason::Auth, true),
            (CandidateFailed, Reason::AuthPermanent, true),
            (SkipCandidate, Reason::Auth, true),
            (CandidateFailed, Reason::RateLimit, false),
            (ProbeCooldownCandidate, Reason::Auth, false),
            (CandidateSucceeded, Reason::Auth, false),
        ] {
            let mut coalescer = LogDedup::default();
            let record = decision("run", kind, reason);
            coalescer.admit(&record, at(0));
            let again = coalescer.admit(&record, at(1));
            assert_eq!(again == LogAdmission::Suppress, held_back, "{kind:?} {reason}");
        }
    }

    #[test]
    fn r_12_4_at_most_a_hundred_lines_are_remembered_and_the_oldest_goes_first() {
        let mut coalescer = LogDedup::default();
        let record = |run: i64| decision(&run.to_string(), DecisionKind::CandidateFailed, Reason::Auth);
        for run in 0..101 {
            coalescer.admit(&record(run), at(run));
        }
        assert_eq!(coalescer.written.len(), CAPACITY);
        assert_eq!(coalescer.admit(&record(1), at(200)), LogAdmission::Suppress);
        assert_eq!(
            coalescer.admit(&record(0), at(200)),
            LogAdmission::Write { suppressed: 0 }
        );
        coalescer.admit(&record(-1), at(60_201));
        assert_eq!(coalescer.written.len(), 1, "dead ones go first");
    }
}
