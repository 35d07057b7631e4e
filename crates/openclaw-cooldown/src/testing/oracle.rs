//! A second, deliberately naive telling of D1 to D10: plain numbers and texts, one map, no shared code.

use std::collections::BTreeMap;

/// What happened, with times in milliseconds. A `wide` failure is account-wide; a success without a model is of all.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Happening<'a> {
    Failure {
        reason: &'a str,
        wide: bool,
        model: &'a str,
        hint: Option<i64>,
        started: Option<i64>,
    },
    Success {
        model: Option<&'a str>,
        started: Option<i64>,
    },
    Clear,
}

/// One lane: when it opened, when it ends, its step, its last failure, whether the end was stated, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) opened: i64,
    pub(crate) until: i64,
    pub(crate) steps: u32,
    pub(crate) last: i64,
    pub(crate) stated: bool,
    pub(crate) reason: String,
}

/// First wait and cap of the two doubling lanes, and the failure window; milliseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    pub(crate) billing: (i64, i64),
    pub(crate) auth_permanent: (i64, i64),
    pub(crate) failure_window: i64,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            billing: (18_000_000, 86_400_000),
            auth_permanent: (600_000, 3_600_000),
            failure_window: 86_400_000,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Oracle {
    pub(crate) lanes: BTreeMap<String, Row>,
    pub(crate) rules: Rules,
}

impl Oracle {
    pub(crate) fn apply(&mut self, now: i64, happening: Happening<'_>) {
        match happening {
            Happening::Clear => self.lanes.clear(),
            Happening::Success { model, started } => {
                self.lanes.retain(|lane, row| {
                    let other = lane
                        .strip_prefix("model:")
                        .is_some_and(|id| model.is_some_and(|model| model != id));
                    other || belongs(row, started, now)
                });
            }
            Happening::Failure {
                reason,
                wide,
                model,
                hint,
                started,
            } => {
                self.fail(now, reason, &lane(reason, wide, model), hint, started);
            }
        }
    }

    fn fail(&mut self, now: i64, reason: &str, lane: &str, hint: Option<i64>, started: Option<i64>) {
        let window = self.rules.failure_window;
        self.lanes.retain(|_, row| {
            if now - row.last > window {
                row.steps = 0;
            }
            now - row.last <= window || row.until > now
        });
        let believed = !["auth", "auth_permanent", "model_not_found"].contains(&reason);
        let hint = hint.filter(|_| believed);
        let mut same = false;
        for name in [
            lane,
            if lane == "profile" && believed {
                "blocked"
            } else {
                ""
            },
        ] {
            if let Some(row) = self.lanes.get_mut(name)
                && belongs(row, started, now)
            {
                row.last = now;
                same = true;
            }
        }
        if same {
            return;
        }
        let row = |until, steps, stated, reason: &str| Row {
            opened: now,
            until,
            steps,
            last: now,
            stated,
            reason: reason.to_owned(),
        };
        let old = self.lanes.get(lane).cloned();
        let steps = old.as_ref().map_or(0, |row| row.steps) + 1;
        let ladder = now + self.wait(lane, steps);
        if lane == "profile"
            && let Some(hint) = hint
        {
            self.lanes.remove("blocked");
            if hint > ladder {
                self.lanes
                    .insert("blocked".to_owned(), row(hint, 0, true, "rate_limit"));
            }
        }
        let hint = hint.filter(|_| lane != "profile");
        let end = hint.map_or(ladder, |hint| hint.max(ladder));
        let new = match old {
            Some(old) if old.until > now && !(old.stated && hint.is_some()) && old.until >= end => {
                row(old.until, steps, old.stated, &old.reason)
            }
            _ => row(end, steps, end > ladder, reason),
        };
        self.lanes.insert(lane.to_owned(), new);
    }

    /// The seed's ladders.
    fn wait(&self, lane: &str, steps: u32) -> i64 {
        let (base, cap) = match lane {
            "billing" => self.rules.billing,
            "auth_permanent" => self.rules.auth_permanent,
            _ => return [30_000, 60_000, 300_000][(steps as usize - 1).min(2)],
        };
        let base = base.max(60_000);
        let mut wait = base;
        for _ in 1..steps.min(11) {
            wait *= 2;
        }
        wait.min(cap.max(base))
    }
}

/// D4.
fn lane(reason: &str, wide: bool, model: &str) -> String {
    match reason {
        "billing" | "auth_permanent" => reason.to_owned(),
        "auth" => "profile".to_owned(),
        "rate_limit" if wide => "profile".to_owned(),
        _ if model.is_empty() => "profile".to_owned(),
        _ => format!("model:{model}"),
    }
}

/// D2.
fn belongs(row: &Row, started: Option<i64>, now: i64) -> bool {
    started.map_or(now < row.until, |started| started < row.opened)
}
