//! What a session holds, read off its stored form whatever the engine makes of it.

use std::sync::Mutex;

use openclaw_auth_store::UsageStore;
use openclaw_session::{SessionEntry, SessionStore, TurnKind};
use serde_json::{Value, json};

use super::{Person, lock};
use crate::trace::{Ending, OnOverride, Pins, Trace};

impl Person {
    /// Read off the stored form, whatever the engine makes of it.
    pub(super) fn on_override(&self, entry: &SessionEntry, kind: TurnKind) -> Option<OnOverride> {
        let json = serde_json::to_value(entry).unwrap_or_default();
        let text = |name: &str| {
            json.get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let written = (text("providerOverride"), text("modelOverride"));
        let origin = (
            text("modelOverrideFallbackOriginProvider"),
            text("modelOverrideFallbackOriginModel"),
        );
        let complete = [&written.0, &written.1, &origin.0, &origin.1]
            .iter()
            .all(|part| !part.is_empty());
        (text("modelOverrideSource") == "auto" && complete && written != origin).then(|| OnOverride {
            primary: self.stage.world.setup.agents[self.session.agent].chain[0].clone(),
            last_asked: self.last_asked,
            may_ask: matches!(kind, TurnKind::Heartbeat | TurnKind::Normal),
        })
    }

    /// What is left when a run is over.
    pub(super) async fn look_after(
        &mut self,
        trace: &Mutex<Trace>,
        before: Option<String>,
        picked: Option<String>,
        probes_primary: bool,
    ) {
        let after = self.selection().await;
        if let Some(model) = &picked {
            self.pins = Pins {
                model: Some(model.clone()),
                profile: None,
            };
        }
        let found = self.found_pins().await;
        let agent = &self.stage.agents[self.session.agent];
        let snapshot = agent.usage.0.snapshot();
        let mut trace = lock(trace);
        let mine = format!("{}#", trace.run);
        trace.holds_lease = snapshot.probes.values().any(|probe| {
            probe
                .lease
                .as_ref()
                .is_some_and(|lease| lease.holder.starts_with(&mine))
        });
        if picked.is_none() {
            trace.selection = before.zip(after);
        }
        trace.pins = found.map(|found| (self.pins.clone(), found));
        if probes_primary {
            let asked = trace
                .calls
                .iter()
                .filter(|call| call.candidate == 0)
                .map(|call| call.began)
                .max();
            let cut_short = matches!(trace.ending, Ending::Crashed | Ending::Dropped).then_some(trace.ended);
            self.last_asked = self
                .last_asked
                .max(asked.unwrap_or(0))
                .max(cut_short.unwrap_or(0));
        }
    }

    async fn stored(&self) -> Option<Value> {
        if self.session.stateless {
            return None;
        }
        let stored = self.sessions().load(&self.key).await.ok().flatten()?;
        serde_json::to_value(stored.entry).ok()
    }

    /// The selection as it is stored.
    pub(super) async fn selection(&self) -> Option<String> {
        let entry = self.stored().await?;
        let names = [
            "providerOverride",
            "modelOverride",
            "modelOverrideSource",
            "modelOverrideFallbackOriginProvider",
            "modelOverrideFallbackOriginModel",
            "authProfileOverride",
            "authProfileOverrideSource",
        ];
        let mut selection: Vec<Value> = names.iter().map(|name| entry[*name].clone()).collect();
        selection.push(entry["failover"]["parkedPin"].clone());
        Some(json!(selection).to_string())
    }

    /// What the session holds of a person's choices.
    async fn found_pins(&self) -> Option<Pins> {
        let entry = self.stored().await?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let model = (entry["modelOverrideSource"] == "user").then(|| {
            let (provider, model) = (text(&entry["providerOverride"]), text(&entry["modelOverride"]));
            format!("{}/{}", provider.unwrap_or_default(), model.unwrap_or_default())
        });
        let pin = |holder: &Value| {
            (holder["authProfileOverrideSource"] == "user")
                .then(|| text(&holder["authProfileOverride"]))
                .flatten()
        };
        Some(Pins {
            model,
            profile: pin(&entry["failover"]["parkedPin"]).or_else(|| pin(&entry)),
        })
    }
}
