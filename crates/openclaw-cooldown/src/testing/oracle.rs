//! A second, deliberately naive telling of D1 to D10: plain numbers, one map, no shared code.

use std::collections::BTreeMap;

/// What happened, with times in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Happening {
    Failure {
        reason: &'static str,
        wide: bool,
        model: &'static str,
        hint: Option<i64>,
        started: Option<i64>,
    },
    Success {
        model: &'static str,
        started: Option<i64>,
    },
    Clear,
}

/// One lane: when it opened, when it ends, its step, its last failure, whether the end was stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) opened: i64,
    pub(crate) until: i64,
    pub(crate) steps: u32,
    last: i64,
    stated: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Oracle {
    pub(crate) lanes: BTreeMap<String, Row>,
}

const DAY: i64 = 86_400_000;

impl Oracle {
    pub(crate) fn apply(&mut self, now: i64, happening: &Happening) {
        match happening {
            Happening::Clear => self.lanes.clear(),
            Happening::Success { model, started } => {
                let own = format!("model:{model}");
                self.lanes.retain(|lane, row| {
                    let other = lane.starts_with("model:") && *lane != own;
                    other || belongs(row, *started, now)
                });
            }
            Happening::Failure {
                reason,
                wide,
                model,
                hint,
                started,
            } => {
                self.fail(now, reason, lane(reason, *wide, model), *hint, *started);
            }
        }
    }

    fn fail(&mut self, now: i64, reason: &str, lane: String, hint: Option<i64>, started: Option<i64>) {
        self.lanes.retain(|_, row| {
            if now - row.last > DAY {
                row.steps = 0;
            }
            now - row.last <= DAY || row.until > now
        });
        let hint = hint.filter(|_| lane != "auth_permanent");
        let mut same = false;
        for name in [
            lane.as_str(),
            if lane == "profile" && reason != "auth" {
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
        let old = self.lanes.get(&lane).copied();
        let steps = old.map_or(0, |row| row.steps) + 1;
        let ladder = now + wait(&lane, steps);
        if lane == "profile"
            && let Some(hint) = hint
        {
            self.lanes.remove("blocked");
            if hint > ladder {
                let row = Row {
                    opened: now,
                    until: hint,
                    steps: 0,
                    last: now,
                    stated: true,
                };
                self.lanes.insert("blocked".to_owned(), row);
            }
        }
        let hint = hint.filter(|_| lane != "profile");
        let end = hint.map_or(ladder, |hint| hint.max(ladder));
        let free_to_move = old.is_none_or(|row| row.until <= now || (row.stated && hint.is_some()));
        let (until, stated) = match old {
            Some(row) if !free_to_move && row.until >= end => (row.until, row.stated),
            _ => (end, end > ladder),
        };
        self.lanes.insert(
            lane,
            Row {
                opened: now,
                until,
                steps,
                last: now,
                stated,
            },
        );
    }
}

/// D4.
fn lane(reason: &str, wide: bool, model: &str) -> String {
    match reason {
        "billing" | "auth_permanent" => reason.to_owned(),
        "auth" => "profile".to_owned(),
        "rate_limit" if wide => "profile".to_owned(),
        _ => format!("model:{model}"),
    }
}

/// D2.
fn belongs(row: &Row, started: Option<i64>, now: i64) -> bool {
    started.map_or(now < row.until, |started| started < row.opened)
}

/// The seed's ladders.
fn wait(lane: &str, steps: u32) -> i64 {
    let at = |ladder: &[i64]| ladder[(steps as usize - 1).min(ladder.len() - 1)];
    match lane {
        "billing" => at(&[5, 10, 20, 24]) * 3_600_000,
        "auth_permanent" => at(&[10, 20, 40, 60]) * 60_000,
        _ => at(&[30, 60, 300]) * 1000,
    }
}
