//! Which decision may change which paths of which lines.

use serde_json::Value;

/// One decision, as far as it parts from the observed behaviour.
pub(crate) struct Decision {
    /// Its id in the decision list.
    pub(crate) id: &'static str,
    /// Whether it concerns a profile of the line.
    applies: fn(&Facts<'_>) -> bool,
    /// The members it may change, of that profile's stored entry or of an answer.
    members: &'static [&'static str],
}

/// What happened to one profile of a line.
struct Facts<'a> {
    stored: Option<&'a Value>,
    provider: &'a str,
    failures: Vec<(&'a str, Option<&'a str>)>,
    blocks: usize,
    probes: bool,
    clock_moves: bool,
}

/// Answers that follow from the windows.
const ANSWERS: [&str; 4] = [
    "inCooldown",
    "unusableUntil",
    "soonestExpiry",
    "unavailableReason",
];

/// Failures that mark nothing (D6).
const UNMARKED: [&str; 6] = [
    "empty_response",
    "format",
    "no_error_details",
    "session_expired",
    "unclassified",
    "unknown",
];

/// The first that applies is named, so the most particular come first.
pub(crate) static DECISIONS: &[Decision] = &[
    Decision {
        id: "D6 (what marks nothing)",
        applies: |facts| facts.failures.iter().any(|(reason, _)| UNMARKED.contains(reason)),
        members: &[
            "cooldownUntil",
            "cooldownReason",
            "cooldownModel",
            "disabledUntil",
            "disabledReason",
            "blockedUntil",
            "errorCount",
            "failureCounts",
            "lastFailureAt",
            "inCooldown",
            "unusableUntil",
            "soonestExpiry",
            "unavailableReason",
        ],
    },
    Decision {
        id: "D8 (no provider is exempt by default)",
        applies: |facts| ["openrouter", "kilocode"].contains(&facts.provider.trim().to_lowercase().as_str()),
        members: &[
            "cooldownUntil",
            "cooldownReason",
            "cooldownModel",
            "disabledUntil",
            "disabledReason",
            "blockedUntil",
            "blockedReason",
            "blockedSource",
            "errorCount",
            "failureCounts",
            "lastFailureAt",
            "lastUsed",
            "inCooldown",
            "unusableUntil",
            "soonestExpiry",
            "unavailableReason",
        ],
    },
    Decision {
        id: "D7 (stated ends)",
        applies: |facts| facts.blocks > 0 || facts.probes,
        members: &[
            "cooldownUntil",
            "cooldownReason",
            "cooldownModel",
            "blockedUntil",
            "blockedReason",
            "blockedSource",
            "blockedModel",
            "errorCount",
            "inCooldown",
            "unusableUntil",
            "soonestExpiry",
            "unavailableReason",
        ],
    },
    Decision {
        id: "D4 (a window per model)",
        applies: |facts| {
            let scoped =
                |reason: &str| ["model_not_found", "overloaded", "rate_limit", "timeout"].contains(&reason);
            facts
                .failures
                .iter()
                .any(|(reason, model)| scoped(reason) && model.is_some())
        },
        members: &[
            "cooldownUntil",
            "cooldownReason",
            "cooldownModel",
            "errorCount",
            "inCooldown",
            "unusableUntil",
            "soonestExpiry",
            "unavailableReason",
        ],
    },
    Decision {
        id: "D1, D2, D3, D5 (ladders, episodes, lanes)",
        applies: |facts| facts.failures.len() + facts.blocks + usize::from(facts.stored.is_some()) > 1,
        members: &[
            "cooldownUntil",
            "cooldownReason",
            "disabledUntil",
            "disabledReason",
            "errorCount",
            "failureCounts",
            "inCooldown",
            "unusableUntil",
            "soonestExpiry",
            "unavailableReason",
        ],
    },
    Decision {
        id: "D15 (active windows answer, counts don't)",
        applies: |facts| facts.clock_moves || facts.stored.is_some(),
        members: &["unusableUntil", "soonestExpiry", "unavailableReason"],
    },
];

impl Decision {
    /// Whether it may change `path` on the line with this input.
    pub(crate) fn explains(&self, input: &Value, path: &[String]) -> bool {
        let answer = ANSWERS.contains(&path[0].as_str());
        let member = if answer {
            &path[0]
        } else {
            path.get(2).unwrap_or(&path[0])
        };
        if !self.members.contains(&member.as_str()) {
            return false;
        }
        let profiles = input["store"]["profiles"].as_object().unwrap();
        // `soonestExpiry` and `unavailableReason` are about all profiles, the rest about the one in the path.
        let mut concerned = profiles
            .keys()
            .filter(|id| path.get(1) == Some(id) || !profiles.contains_key(path.get(1).map_or("", |id| id)));
        concerned.any(|id| (self.applies)(&Facts::of(input, id)))
    }
}

impl<'a> Facts<'a> {
    fn of(input: &'a Value, id: &str) -> Self {
        let events = || input["events"].as_array().unwrap().iter();
        let own =
            |op: &'static str| events().filter(move |event| event["op"] == op && event["profile"] == id);
        Self {
            stored: input["store"]["usageStats"].get(id),
            provider: input["store"]["profiles"][id]["provider"].as_str().unwrap(),
            failures: own("failure")
                .map(|event| (event["reason"].as_str().unwrap(), event["model"].as_str()))
                .collect(),
            blocks: own("blocked").count(),
            probes: own("failure").any(|event| event.get("usageProbe").is_some()),
            clock_moves: events().any(|event| event["op"] == "advance"),
        }
    }
}
