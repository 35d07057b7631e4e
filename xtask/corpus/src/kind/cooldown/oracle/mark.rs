//! What an event marks on a profile, and what a usage check makes of it (cooldown.md 8.3).

use serde_json::{Value, json};

use super::{HOUR, MINUTE, provider};

/// What an event marks (D4, D6): the lane, why, and an end that was stated by whom.
pub(super) struct Mark {
    pub(super) lane: String,
    pub(super) reason: String,
    pub(super) end: Option<i64>,
    pub(super) origin: Value,
}

impl Mark {
    pub(super) fn of(event: &Value, own: &Value, now: i64) -> Option<Self> {
        let account = |end, origin| {
            Some(Self {
                lane: "*".into(),
                reason: "rate_limit".into(),
                end: Some(end),
                origin,
            })
        };
        if event["op"] == "blocked" {
            let end = event["untilMs"].as_i64().filter(|end| *end > now)?;
            return account(end, json!({"source": event["source"], "model": event["model"]}));
        }
        let (blocked, end) = if is_checked(event, own) {
            checked(&event["usageProbe"], now)
        } else {
            (false, None)
        };
        let reason = event["reason"].as_str()?;
        let lane = match reason {
            _ if blocked => return account(end?, json!({"source": "wham"})),
            "auth" => "*",
            "auth_permanent" => "*auth_permanent",
            "billing" => "*billing",
            "model_not_found" | "overloaded" | "rate_limit" | "timeout" => {
                event["model"].as_str().unwrap_or("*")
            }
            _ => return None,
        };
        Some(Self {
            lane: lane.to_owned(),
            reason: reason.to_owned(),
            end,
            origin: Value::Null,
        })
    }
}

/// Whether the usage check is asked (cooldown.md 8.3).
fn is_checked(event: &Value, own: &Value) -> bool {
    let reasons = [
        "rate_limit",
        "empty_response",
        "no_error_details",
        "unclassified",
        "unknown",
    ];
    let explained = event["reason"]
        .as_str()
        .is_some_and(|reason| reasons.contains(&reason));
    explained && own["type"] == "oauth" && provider(own) == "openai" && !event["usageProbe"].is_null()
}

/// What the check says: whether the account is blocked, and until when it or the model rests.
fn checked(reply: &Value, now: i64) -> (bool, Option<i64>) {
    let limit = &reply["body"]["rate_limit"];
    let used_up = |window: &str| limit[window]["used_percent"].as_f64() >= Some(100.0);
    let blocking = match reply["status"].as_i64() {
        Some(401) => return (false, Some(now + 12 * HOUR)),
        Some(403) => return (false, Some(now + 24 * HOUR)),
        Some(200..300) if limit["limit_reached"] == false => return (false, Some(now + 15_000)),
        Some(200..300) if limit["secondary_window"].is_null() => "primary_window",
        Some(200..300) if used_up("secondary_window") => "secondary_window",
        Some(200..300) if used_up("primary_window") => "primary_window",
        Some(200..300) | None => return (false, Some(now + 30_000)),
        Some(_) => return (false, Some(now + 5 * MINUTE)),
    };
    match limit[blocking]["reset_after_seconds"].as_i64() {
        Some(seconds) => (true, Some(now + seconds * 1000)),
        None => (false, Some(now + 30_000)),
    }
}
