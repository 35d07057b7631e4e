//! The decided order, calculated naively from the row alone, and which of its parts decisions change.

use serde_json::{Map, Value, json};

use crate::kind::{Decision, EXEMPT};

/// The end of a window and the members that go with it.
const WINDOWS: [(&str, &[&str]); 3] = [
    ("cooldownUntil", &["cooldownReason", "cooldownModel"]),
    ("disabledUntil", &["disabledReason"]),
    (
        "blockedUntil",
        &["blockedReason", "blockedSource", "blockedModel"],
    ),
];

pub(super) const DECISIONS: &[Decision] = &[
    // Counters survive the end of a window; the recorded program forgets them with the last one.
    Decision {
        id: "D1",
        reach: |input| {
            of_ended(input, &["errorCount", "failureCounts"], |stats| {
                count(&stats["errorCount"]) > 0
            })
        },
    },
    // The count that is shown is the sum of episodes, and a window with a ladder is one, also when no count was stored.
    Decision {
        id: "D5",
        reach: |input| {
            of_ended(input, &["errorCount"], |stats| {
                count(&stats["errorCount"]) < laddered(stats)
            })
        },
    },
    // No provider is exempt from cooldowns.
    Decision {
        id: "D8",
        reach: |input| {
            let exempt = |(id, _): (&String, &Value)| {
                let provider = text(&input["store"]["profiles"][id]["provider"])
                    .trim()
                    .to_lowercase();
                EXEMPT.contains(&provider.as_str()) && rests_until(input, id).is_some()
            };
            if members(&input["store"]["usageStats"]).any(exempt) {
                vec![vec!["order".to_owned()]]
            } else {
                Vec::new()
            }
        },
    },
];

/// These members of every such profile that has a window to take out.
fn of_ended(input: &Value, changed: &[&str], such: fn(&Value) -> bool) -> Vec<Vec<String>> {
    let ended = |(_, stats): &(&String, &Value)| {
        such(stats)
            && WINDOWS
                .iter()
                .any(|(end, _)| instant(&stats[*end]).is_some_and(|end| end <= now(input)))
    };
    let path = |id: &str, member: &str| ["usageStats", id, member].map(str::to_owned).to_vec();
    let profiles = members(&input["store"]["usageStats"]).filter(ended);
    profiles
        .flat_map(|(id, _)| changed.iter().map(move |member| path(id, member)))
        .collect()
}

/// How many windows have a ladder; one whose end the provider stated has none.
fn laddered(stats: &Value) -> i64 {
    ["cooldownUntil", "disabledUntil"]
        .iter()
        .map(|end| i64::from(!stats[*end].is_null()))
        .sum()
}

/// The whole answer.
pub(super) fn oracle(input: &Value) -> Value {
    let provider = text(&input["provider"]);
    let store = &input["store"];
    let config = &input["config"]["auth"];
    let shares = |other: &Value| auth_id(text(other)) == auth_id(provider);
    let ids = |list: Option<&Value>| {
        list.map(|list| {
            list.as_array()
                .into_iter()
                .flatten()
                .map(|id| text(id).to_owned())
                .collect::<Vec<_>>()
        })
    };
    let named = |orders: &Value, wanted: &str| {
        ids(members(orders)
            .find(|(key, _)| key.trim().to_lowercase() == wanted)
            .map(|(_, list)| list))
    };
    let asked = provider.trim().to_lowercase();
    let agent = named(&store["order"], &auth_id(provider)).or_else(|| named(&store["order"], &asked));
    let from_agent = agent.is_some();
    let explicit = agent
        .or_else(|| named(&config["order"], &auth_id(provider)))
        .or_else(|| named(&config["order"], &asked));
    let of = |rows: &Value| {
        members(rows)
            .filter(|(_, row)| shares(&row["provider"]))
            .map(|(id, _)| id.clone())
            .collect::<Vec<_>>()
    };
    let (configured, stored) = (of(&config["profiles"]), of(&store["profiles"]));
    let base = explicit.clone().unwrap_or_else(|| {
        if configured.is_empty() {
            stored.clone()
        } else {
            configured.clone()
        }
    });
    let mut listed: Vec<String> = base
        .iter()
        .filter(|id| eligible(input, id) == "ok")
        .cloned()
        .collect();
    let repaired = listed.is_empty()
        && base.iter().all(|id| store["profiles"].get(id).is_none())
        && explicit.as_ref().is_none_or(|order| !order.is_empty())
        && (from_agent || !configured.is_empty());
    if repaired {
        listed = stored
            .into_iter()
            .filter(|id| eligible(input, id) == "ok")
            .collect();
    }
    let mut seen = Vec::new();
    listed.retain(|id| {
        !seen.contains(id) && {
            seen.push(id.clone());
            true
        }
    });
    let (mut resting, mut order): (Vec<_>, Vec<_>) = listed
        .into_iter()
        .partition(|id| rests_until(input, id).is_some());
    resting.sort_by_key(|id| rests_until(input, id));
    if explicit.is_none() || repaired {
        let kind = |id: &String| {
            ["oauth", "token", "api_key"]
                .iter()
                .position(|kind| store["profiles"][id]["type"] == *kind)
                .unwrap_or(3)
        };
        order.sort_by_key(|id| {
            (
                kind(id),
                store["usageStats"][id]["lastUsed"].as_i64().unwrap_or(0),
            )
        });
    }
    order.extend(resting);
    if let Some(at) = order.iter().position(|id| input["preferredProfile"] == **id) {
        order[..=at].rotate_right(1);
    }
    let swept: Map<String, Value> = members(&store["usageStats"])
        .map(|(id, stats)| (id.clone(), without_ended(stats, now(input))))
        .collect();
    json!({"order": order, "usageStats": swept})
}

/// The ended windows are gone, the counts stay: one episode at least for each window that has a ladder.
fn without_ended(stats: &Value, now: i64) -> Value {
    let ended = |end: &str| instant(&stats[end]).is_some_and(|end| end <= now);
    let mut left = stats.clone();
    for (end, others) in WINDOWS.iter().filter(|(end, _)| ended(end)) {
        for member in std::iter::once(end).chain(*others) {
            left.as_object_mut().map(|left| left.remove(*member));
        }
    }
    if left != *stats {
        let long = match stats["disabledReason"].as_str() {
            Some(reason) => count(&stats["failureCounts"][reason]).max(1),
            None => 0,
        };
        let short = (count(&stats["errorCount"]) - long).max(i64::from(!stats["cooldownUntil"].is_null()));
        left["errorCount"] = json!(long + short.max(0));
    }
    left
}

fn eligible(input: &Value, id: &str) -> &'static str {
    let (row, configured) = (
        &input["store"]["profiles"][id],
        &input["config"]["auth"]["profiles"][id],
    );
    let asked = auth_id(text(&input["provider"]));
    let blank = |member: &str| text(&row[member]).trim().is_empty();
    let fits = configured.is_null() || auth_id(text(&configured["provider"])) == asked;
    let (mode, kind) = (text(&configured["mode"]), text(&row["type"]));
    let aws = || input["config"]["models"]["providers"][text(&input["provider"])]["auth"] == "aws-sdk";
    match kind {
        "" if mode == "aws-sdk" && fits && aws() => "ok",
        "" => "profile_missing",
        _ if auth_id(text(&row["provider"])) != asked || !fits => "provider_mismatch",
        _ if !configured.is_null() && mode != kind && (mode, kind) != ("oauth", "token") => "mode_mismatch",
        "api_key" if text(&row["key"]).to_lowercase().starts_with("openclaw onboard") => "malformed_api_key",
        "api_key" if blank("key") && row["keyRef"].is_null() => "missing_credential",
        "token" if blank("token") && row["tokenRef"].is_null() => "missing_credential",
        "token" if !row["expires"].is_null() && instant(&row["expires"]).is_none() => "invalid_expires",
        "token" if instant(&row["expires"]).is_some_and(|end| end <= now(input)) => "expired",
        "oauth" if blank("access") && blank("refresh") => "missing_credential",
        _ => "ok",
    }
}

/// The latest end of the profile's active windows.
fn rests_until(input: &Value, id: &str) -> Option<i64> {
    let stats = &input["store"]["usageStats"][id];
    WINDOWS
        .iter()
        .filter_map(|(end, _)| instant(&stats[*end]))
        .filter(|end| now(input) < *end)
        .max()
}

fn auth_id(provider: &str) -> String {
    let provider = provider.trim().to_lowercase();
    let canonical = match provider.as_str() {
        "claude-cli" => "anthropic",
        "volcengine-plan" => "volcengine",
        "byteplus-plan" => "byteplus",
        "novita-ai" | "novitaai" => "novita",
        "minimax-cn" | "minimax-api" | "minimax-cloud" | "minimax-api-lightning" | "minimax-api-key-cn" => {
            "minimax"
        }
        "minimax-portal-cn" => "minimax-portal",
        other => other,
    };
    canonical.to_owned()
}

fn instant(value: &Value) -> Option<i64> {
    value
        .as_i64()
        .filter(|ms| (1..=8_640_000_000_000_000).contains(ms))
}

fn now(input: &Value) -> i64 {
    count(&input["nowMs"])
}

fn count(value: &Value) -> i64 {
    value.as_i64().unwrap_or(0)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}
