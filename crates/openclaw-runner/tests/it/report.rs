//! What a snapshot of a scenario shows.

use std::fmt::Write as _;

use jiff::Timestamp;
use openclaw_auth_store::AuthSnapshot;
use openclaw_runner::{RunError, RunEvent, RunReport, Standing, Winner};
use openclaw_session::SessionEntry;

pub(crate) struct Report {
    text: String,
    start: Timestamp,
}

impl Report {
    pub(crate) fn new(title: &str, rules: &[String], start: Timestamp) -> Self {
        Self {
            text: format!("{title}\nrules: {}\n", rules.join(", ")),
            start,
        }
    }

    pub(crate) fn run(&mut self, number: usize, now: Timestamp, source: &str, chain: &str) {
        let at = self.offset(now);
        self.line("", &format!("\n== run {number}, {at}"));
        self.line("", &format!("chosen by: {source}"));
        self.line("", &format!("chain: {chain}"));
    }

    pub(crate) fn list(&mut self, title: &str, items: &[String]) {
        if items.is_empty() {
            return self.line("", &format!("{title}: none"));
        }
        self.line("", &format!("{title}:"));
        for item in items {
            self.line("  ", item);
        }
    }

    pub(crate) fn answered(&mut self, winner: &Winner) {
        let profile = winner
            .profile
            .as_ref()
            .map_or("no profile", |profile| profile.as_str());
        let what = match winner.standing {
            Standing::Good => "answered by",
            Standing::Preserved => "nobody succeeded; the answer kept is of",
        };
        self.line("", &format!("{what}: {} @{profile}", winner.candidate));
    }

    pub(crate) fn failed(&mut self, error: &RunError, now: Timestamp) {
        let kind = match error {
            RunError::Aborted(_) => "aborted",
            RunError::ContextOverflow(..) => "context overflow",
            RunError::Exhausted(..) => "summary",
            RunError::Failed(..) => "failed",
            RunError::LimitReached(..) => "limit reached",
            RunError::Surfaced(..) => "surfaced",
            _ => "other",
        };
        self.line("", &format!("{kind}: {error}"));
        if let RunError::Exhausted(summary, _) = error {
            let soonest = summary
                .soonest_cooldown_expiry
                .map_or_else(|| "none".to_owned(), |at| self.offset(at));
            self.line("", &format!("soonest expiry: {soonest}"));
        }
        let text = error.user_text(now);
        self.list("user text", &text.lines().map(str::to_owned).collect::<Vec<_>>());
    }

    pub(crate) fn records(&mut self, report: &RunReport) {
        let lines: Vec<String> = report
            .events
            .iter()
            .map(|event| match event {
                RunEvent::Candidate(decision) => serde_json::to_string(decision.as_ref()).unwrap(),
                RunEvent::Rotation(rotation) => serde_json::to_string(rotation.as_ref()).unwrap(),
            })
            .collect();
        self.list("records", &lines);
    }

    /// Every window that is active, with its step.
    pub(crate) fn windows(&mut self, snapshot: &AuthSnapshot, now: Timestamp) {
        let mut lines = Vec::new();
        for id in snapshot.profiles.keys() {
            for (lane, window) in &snapshot.usage(id).windows {
                if window.is_active(now) {
                    let until = self.offset(window.until);
                    lines.push(format!(
                        "{id} {lane}: {} until {until}, step {}",
                        window.reason, window.steps
                    ));
                }
            }
        }
        let mut endpoints: Vec<_> = snapshot.endpoints.iter().collect();
        endpoints.sort_by_key(|(key, window)| (window.until, key.base_url.clone()));
        for (key, window) in endpoints {
            if window.is_active(now) {
                lines.push(format!(
                    "endpoint {}: until {}",
                    key.base_url,
                    self.offset(window.until)
                ));
            }
        }
        self.list("resting", &lines);
    }

    pub(crate) fn session(&mut self, entry: &SessionEntry) {
        let mut json = serde_json::to_value(entry).unwrap();
        let members = json.as_object_mut().unwrap();
        for clock in ["sessionId", "updatedAt"] {
            members.shift_remove(clock);
        }
        self.line("", &format!("session: {json}"));
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }

    fn offset(&self, at: Timestamp) -> String {
        let millis = at.as_millisecond() - self.start.as_millisecond();
        format!("at {}.{:03}s", millis / 1000, millis % 1000)
    }

    fn line(&mut self, indent: &str, text: &str) {
        writeln!(self.text, "{indent}{text}").unwrap();
    }
}
