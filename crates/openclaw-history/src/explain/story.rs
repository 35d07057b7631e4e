//! Builds the story of one run from its records, candidate by candidate.

use jiff::{SignedDuration, Timestamp};
use openclaw_classify::Reason;
use openclaw_runner::{DecisionKind, RotationKind, StepOutcome};
use serde::Serialize;

use super::ending::Ending;
use super::record::{CandidateRecord, Record, RotationRecord};

/// One run, told from its records. `Display` is the text for people; it serialises for machines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Story {
    /// Names the run; empty without a name.
    pub run_id: String,
    /// The session, when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The model as it was asked for, or the first of the chain when no record says so.
    pub requested: String,
    /// Length of the chain; zero when no record says so.
    pub total: usize,
    /// When the run began; known from logs alone.
    #[serde(
        with = "jiff::fmt::serde::timestamp::millisecond::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub began_at: Option<Timestamp>,
    /// How long the run took until its last record, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// Every candidate that was looked at, in that order; a last resort is looked at twice.
    pub visits: Vec<Visit>,
    /// How it ended.
    pub ending: Ending,
}

/// What happened at one candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Visit {
    /// As `provider/model`.
    pub model: String,
    /// Its position in the chain, from 1; none when no record says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<usize>,
    /// What became of it.
    pub fate: Fate,
    /// Why it was called although it cools down, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probed: Option<Reason>,
    /// Whether it was asked as the chain's last resort.
    pub last_resort: bool,
    /// Why it failed or was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The rule that found the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// HTTP status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Structured code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What the provider, or the skip, said; redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The kind of the credential that failed last, or of all that cool down; none when it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth_mode: Option<String>,
    /// Its credentials that failed, in order.
    pub credentials: Vec<Credential>,
    /// When it is asked again as a matter of course.
    #[serde(
        with = "jiff::fmt::serde::timestamp::millisecond::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub rests_until: Option<Timestamp>,
    /// The candidate that came next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// How long it took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// How many equal records the log left out before this one.
    pub left_out: u64,
}

/// One attempt that failed, by its credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Credential {
    /// Hash of the profile's name; none without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Its kind: `api_key`, `oauth` or `token`; none when it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth_mode: Option<String>,
    /// Why it failed.
    pub reason: Reason,
    /// HTTP status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What the provider said; redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// When it is used again; none when nothing was marked.
    #[serde(
        with = "jiff::fmt::serde::timestamp::millisecond::optional",
        skip_serializing_if = "Option::is_none"
    )]
    pub rests_until: Option<Timestamp>,
    /// What followed.
    pub then: RotationKind,
    /// The model that a person chose meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirected_to: Option<String>,
}

/// What became of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Fate {
    /// It answered.
    Answered,
    /// It failed, and the run went on or ended.
    Failed,
    /// The records end while it was being asked.
    Open,
    /// A person chose another model meanwhile.
    Redirected,
    /// It was not asked.
    Skipped,
    /// Its failure went to the caller as it was.
    Surfaced,
}

impl Story {
    pub(crate) fn new(record: &Record) -> Self {
        Self {
            run_id: record.run_id().to_owned(),
            session_id: None,
            requested: String::new(),
            total: 0,
            began_at: None,
            took_ms: None,
            visits: Vec::new(),
            ending: Ending::Open { next: None },
        }
    }

    pub(crate) fn is_about(&self, record: &Record) -> bool {
        self.run_id == record.run_id()
    }

    /// Whether `record` belongs to this run rather than to a later one of the same name. A chain is walked forwards;
    /// only its last resort goes back.
    pub(crate) fn continues_with(&self, record: &Record) -> bool {
        let Some(last) = self.visits.last() else {
            return true;
        };
        let same = last.model == model(record);
        if elapsed(record) < self.took_ms {
            return false;
        }
        match record {
            _ if last.fate == Fate::Answered => false,
            Record::Candidate(record) if record.last_resort == Some(true) => true,
            Record::Candidate(record) => match last.position {
                Some(position) if record.attempt == position => last.fate == Fate::Open && same,
                Some(position) => record.attempt > position && !last.ends_chain(),
                None => same || last.fate == Fate::Redirected,
            },
            Record::Rotation(_) if last.fate == Fate::Open => same && !last.is_surfacing(),
            Record::Rotation(_) => !last.ends_chain(),
        }
    }

    pub(crate) fn add(&mut self, record: &Record) {
        match record {
            Record::Candidate(record) => self.add_decision(record),
            Record::Rotation(record) => self.add_rotation(record),
        }
    }

    fn add_decision(&mut self, record: &CandidateRecord) {
        self.session_id = self.session_id.take().or_else(|| record.session_id.clone());
        self.requested = format!("{}/{}", record.requested_provider, record.requested_model);
        self.total = record.total;
        self.time(record.at, record.elapsed_ms);
        let took = self.took_since_last(record.elapsed_ms);
        let visit = self.visit(record.candidate());
        visit.position = Some(record.attempt);
        visit.next = record.next();
        visit.left_out += record.suppressed_duplicate_count;
        visit.took_ms = took;
        if record.decision == DecisionKind::ProbeCooldownCandidate {
            visit.probed = record.reason;
            visit.last_resort = record.last_resort == Some(true);
            visit.rests_until = record.rests_until;
            return;
        }
        visit.reason = record.reason;
        visit.rule.clone_from(&record.rule);
        visit.status = record.status;
        visit.code.clone_from(&record.code);
        visit.auth_mode.clone_from(&record.auth_mode);
        visit.detail = record.detail().map(str::to_owned);
        visit.rests_until = record.rests_until.map(|last| visit.first_back(last));
        let outcome = record.fallback_step_final_outcome.as_deref();
        let surfaced = outcome == Some(StepOutcome::Surfaced.as_str());
        visit.fate = match record.decision {
            DecisionKind::CandidateFailed if surfaced => Fate::Surfaced,
            DecisionKind::CandidateFailed => Fate::Failed,
            DecisionKind::CandidateSucceeded => Fate::Answered,
            DecisionKind::SkipCandidate | DecisionKind::ProbeCooldownCandidate => Fate::Skipped,
        };
        self.took_ms = record.elapsed_ms.or(self.took_ms);
    }

    fn add_rotation(&mut self, record: &RotationRecord) {
        self.time(record.at, record.elapsed_ms);
        let visit = self.visit(record.candidate());
        visit.credentials.push(Credential {
            profile: Some(record.profile_id.clone()).filter(|hash| !matches!(hash.as_str(), "" | "-")),
            auth_mode: record.auth_mode.clone(),
            reason: record.failover_reason,
            status: record.status,
            detail: record.raw_error_preview.clone(),
            rests_until: record.rests_until,
            then: record.decision,
            redirected_to: record.redirected_to.clone(),
        });
        if record.decision == RotationKind::Redirect {
            visit.take_from_credential();
            visit.fate = Fate::Redirected;
            visit.next.clone_from(&record.redirected_to);
        }
        self.took_ms = record.elapsed_ms.or(self.took_ms);
    }

    fn time(&mut self, at: Option<Timestamp>, elapsed: Option<u64>) {
        let elapsed = SignedDuration::from_millis(i64::try_from(elapsed.unwrap_or(0)).unwrap_or(i64::MAX));
        let began = at.and_then(|at| at.saturating_sub(elapsed).ok());
        self.began_at = self.began_at.or(began);
    }

    fn took_since_last(&self, elapsed: Option<u64>) -> Option<u64> {
        let before: u64 = self
            .visits
            .iter()
            .filter(|visit| visit.fate != Fate::Open)
            .filter_map(|visit| visit.took_ms)
            .sum();
        elapsed.map(|elapsed| elapsed.saturating_sub(before))
    }

    /// The visit that goes on, or a new one.
    fn visit(&mut self, model: String) -> &mut Visit {
        let goes_on = self
            .visits
            .last()
            .is_some_and(|last| last.fate == Fate::Open && last.model == model);
        if !goes_on {
            self.settle_last();
            self.visits.push(Visit::new(model));
        }
        let last = self.visits.len() - 1;
        &mut self.visits[last]
    }

    /// A candidate that was left without a record of it: the log held an equal one back.
    fn settle_last(&mut self) {
        if let Some(last) = self.visits.last_mut().filter(|last| last.fate == Fate::Open) {
            last.take_from_credential();
            last.fate = Fate::Failed;
        }
    }

    /// Gives a place to candidates that only their credentials' records tell of: a chain is walked in order.
    fn place(&mut self) {
        let mut before = 0;
        for visit in &mut self.visits {
            before = *visit.position.get_or_insert(before + 1);
        }
        if let Some(first) = self.visits.first().filter(|_| self.requested.is_empty()) {
            self.requested.clone_from(&first.model);
        }
    }

    /// Says how the run ended, once all records are in.
    pub(crate) fn close(&mut self) {
        self.place();
        let Some(last) = self.visits.last_mut() else {
            return;
        };
        if last.fate == Fate::Open && last.is_surfacing() {
            last.take_from_credential();
            last.fate = Fate::Surfaced;
        }
        self.ending = match last.fate {
            Fate::Answered => Ending::Answered {
                by: last.model.clone(),
                position: last.position,
            },
            Fate::Surfaced => Ending::Surfaced {
                from: last.model.clone(),
            },
            Fate::Failed | Fate::Skipped if last.next.is_none() => Ending::Exhausted,
            Fate::Failed | Fate::Redirected | Fate::Skipped => Ending::Open {
                next: last.next.clone(),
            },
            Fate::Open => Ending::Open {
                next: Some(last.model.clone()),
            },
        };
    }
}

impl Visit {
    fn new(model: String) -> Self {
        Self {
            model,
            position: None,
            fate: Fate::Open,
            probed: None,
            last_resort: false,
            reason: None,
            rule: None,
            status: None,
            code: None,
            detail: None,
            auth_mode: None,
            credentials: Vec::new(),
            rests_until: None,
            next: None,
            took_ms: None,
            left_out: 0,
        }
    }

    /// Whether the run ended here, unless a last resort follows.
    fn ends_chain(&self) -> bool {
        matches!(self.fate, Fate::Failed | Fate::Skipped | Fate::Surfaced) && self.next.is_none()
    }

    fn is_surfacing(&self) -> bool {
        self.credentials
            .last()
            .is_some_and(|credential| credential.then == RotationKind::SurfaceError)
    }

    /// When the first of the credentials is back, where the one that was used last is back at `last`.
    fn first_back(&self, last: Timestamp) -> Timestamp {
        let mut seen = Vec::new();
        let mut first = last;
        // What was said last of a credential holds.
        for credential in self.credentials.iter().rev() {
            if seen.contains(&&credential.profile) {
                continue;
            }
            seen.push(&credential.profile);
            first = credential.rests_until.map_or(first, |until| first.min(until));
        }
        first
    }

    fn take_from_credential(&mut self) {
        if let Some(last) = self.credentials.last() {
            self.reason = Some(last.reason);
            self.status = last.status;
            self.auth_mode.clone_from(&last.auth_mode);
            self.detail.clone_from(&last.detail);
            self.rests_until = last.rests_until.map(|last| self.first_back(last));
        }
    }
}

fn elapsed(record: &Record) -> Option<u64> {
    match record {
        Record::Candidate(record) => record.elapsed_ms,
        Record::Rotation(record) => record.elapsed_ms,
    }
}

fn model(record: &Record) -> String {
    match record {
        Record::Candidate(record) => record.candidate(),
        Record::Rotation(record) => record.candidate(),
    }
}
