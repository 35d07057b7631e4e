//! What a session holds, read off its stored form whatever the engine makes of it.

use openclaw_session::SessionEntry;
use serde_json::{Value, json};

use crate::trace::{Choice, Pins};

/// The members that make up the selection.
const SELECTION: [&str; 7] = [
    "providerOverride",
    "modelOverride",
    "modelOverrideSource",
    "modelOverrideFallbackOriginProvider",
    "modelOverrideFallbackOriginModel",
    "authProfileOverride",
    "authProfileOverrideSource",
];

/// An entry as it is stored.
pub(super) struct Stored(Value);

impl Stored {
    pub(super) fn of(entry: &SessionEntry) -> Self {
        Self(serde_json::to_value(entry).unwrap_or_default())
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0[name].as_str()
    }

    fn joined(&self, provider: &str, model: &str) -> Option<String> {
        match (self.text(provider), self.text(model)) {
            (None, None) => None,
            (provider, model) => Some(format!(
                "{}/{}",
                provider.unwrap_or_default(),
                model.unwrap_or_default()
            )),
        }
    }

    /// Whether the session is on an automatic override that is complete.
    pub(super) fn is_on_override(&self) -> bool {
        let has = |name| self.text(name).is_some_and(|text| !text.is_empty());
        let Choice {
            model,
            source,
            origin,
        } = self.choice();
        source.as_deref() == Some("auto") && SELECTION[..5].iter().all(|name| has(name)) && model != origin
    }

    /// The model that the session is on by itself.
    pub(super) fn choice(&self) -> Choice {
        Choice {
            model: self.joined("providerOverride", "modelOverride"),
            source: self.text("modelOverrideSource").map(str::to_owned),
            origin: self.joined(
                "modelOverrideFallbackOriginProvider",
                "modelOverrideFallbackOriginModel",
            ),
        }
    }

    /// The whole selection, with the pin that a fallback displaced.
    pub(super) fn selection(&self) -> String {
        let mut selection: Vec<&Value> = SELECTION.iter().map(|name| &self.0[*name]).collect();
        selection.push(&self.0["failover"]["parkedPin"]);
        json!(selection).to_string()
    }

    /// What it holds of a person's choices.
    pub(super) fn pins(&self) -> Pins {
        let is_chosen = self.text("modelOverrideSource") == Some("user");
        let pin = |holder: &Value| {
            let profile = holder["authProfileOverride"].as_str();
            let profile = profile.filter(|_| holder["authProfileOverrideSource"] == "user");
            profile.map(str::to_owned)
        };
        Pins {
            model: self
                .joined("providerOverride", "modelOverride")
                .filter(|_| is_chosen),
            profile: pin(&self.0["failover"]["parkedPin"]).or_else(|| pin(&self.0)),
        }
    }
}
