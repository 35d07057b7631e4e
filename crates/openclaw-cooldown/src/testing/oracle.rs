//! A second, deliberately naive implementation of D1 to D10: plain numbers and texts, one map, no shared code.

use std::collections::BTreeMap;

/// What happened, with times in milliseconds. A `wide` failure is account-wide; a success without a model is of all.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OracleEvent<'a> {
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
    last: i64,
    stated: bool,
    pub(crate) reason: String,
}

/// Every window, active or over, by its lane's name.
#[derive(Debug, Default)]
pub(crate) struct Oracle {
    pub(crate) lanes: BTreeMap<String, Row>,
}

const DAY: i64 = 86_400_000;

impl Oracle {
    pub(crate) fn apply(&mut self, now: i64, event: OracleEvent<'_>) {
        match event {
            OracleEvent::Clear => self.lanes.clear(),
            OracleEvent::Success { model, started } => self.lanes.retain(|lane, row| {
                let id = lane.strip_prefix("model:");
                let other = id.is_some_and(|id| model.is_some_and(|model| model != id));
                other || belongs(row, started, now)
            }),
            OracleEvent::Failure {
                reason,
                wide,
                model,
                hint,
                started,
            } => {
                let lane = match reason {
                    "billing" | "auth_permanent" => reason.to_owned(),
                    "auth" => "profile".to_owned(),
                    "rate_limit" if wide => "profile".to_owned(),
                    _ => format!("model:{model}"),
                };
                let hint = hint.filter(|_| !["auth", "auth_permanent", "model_not_found"].contains(&reason));
                self.fail(now, reason, &lane, hint, started);
            }
        }
    }

    fn fail(&mut self, now: i64, reason: &str, lane: &str, hint: Option<i64>, started: Option<i64>) {
        // F-6: a lane is remembered for a day, and at least for its wait and an hour.
        let old = |row: &Row| now - row.last > DAY.max(row.until - row.opened + DAY / 24);
        for row in self.lanes.values_mut().filter(|row| old(row)) {
            row.steps = 0;
        }
        self.lanes.retain(|_, row| !old(row) || row.until > now);
        let limit = lane == "profile" && reason != "auth";
        let mut same = false;
        for (name, row) in &mut self.lanes {
            if (name == lane || limit && name == "blocked") && belongs(row, started, now) {
                row.last = later(row.last, now);
                same = true;
            }
        }
        if same {
            return;
        }
        let old = self.lanes.get(lane).cloned();
        let steps = old.as_ref().map_or(0, |row| row.steps) + 1;
        let ladder = now + wait(lane, steps);
        let last = old.as_ref().map_or(now, |old| later(old.last, now));
        let row = |until, steps, stated, reason: &str| Row {
            opened: now,
            until,
            steps,
            last,
            stated,
            reason: reason.to_owned(),
        };
        if let Some(end) = hint.filter(|_| limit) {
            self.lanes.remove("blocked");
            if end > ladder {
                let blocked = row(end, 0, true, reason);
                self.lanes
                    .insert("blocked".to_owned(), Row { last: now, ..blocked });
            }
        }
        let hint = hint.filter(|_| !limit);
        let end = hint.map_or(ladder, |hint| hint.max(ladder));
        let kept = old.filter(|old| old.until >= end && !(old.stated && hint.is_some()));
        let new = kept.map_or(row(end, steps, end > ladder, reason), |old| {
            row(old.until, steps, old.stated, &old.reason)
        });
        self.lanes.insert(lane.to_owned(), new);
    }
}

/// The later failure, unless its clock was more than a day ahead.
fn later(known: i64, now: i64) -> i64 {
    if known - now > DAY { now } else { known.max(now) }
}

/// The seed's ladders (D1).
fn wait(lane: &str, steps: u32) -> i64 {
    let ladder: [i64; 4] = match lane {
        "billing" => [5, 10, 20, 24].map(|hours| hours * 3_600_000),
        "auth_permanent" => [10, 20, 40, 60].map(|minutes| minutes * 60_000),
        _ => [30_000, 60_000, 300_000, 300_000],
    };
    ladder[(steps as usize - 1).min(3)]
}

/// D2.
fn belongs(row: &Row, started: Option<i64>, now: i64) -> bool {
    started.map_or(now < row.until, |started| started < row.opened)
}
