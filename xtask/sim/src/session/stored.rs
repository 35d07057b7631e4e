//! What a session holds, read off its stored form whatever the engine makes of it.

use openclaw_auth_store::UsageStore;
use openclaw_session::{SessionEntry, SessionStore, TurnKind};
use serde_json::{Value, json};

use super::turn::Turned;
use super::{Person, lock};
use crate::jam::File;
use crate::trace::{Choice, Ending, OnOverride, Overlap, Pins, Trace};

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

    /// What is left when a turn is over.
    pub(super) async fn look_after(&mut self, turned: Turned) {
        let after = self.selection().await;
        if let Some(model) = &turned.picked {
            self.pins = Pins {
                model: Some(model.clone()),
                profile: None,
            };
        }
        self.note_leases(&turned);
        let pins = self.found_pins().await.map(|found| (self.pins.clone(), found));
        self.note_asked(&turned);
        let mut trace = lock(&turned.trace).clone();
        trace.logins = self.stage.world.logins.take_seen(self.session.agent);
        if turned.picked.is_none() {
            trace.selection = turned.before.zip(after);
        }
        trace.pins = pins;
        self.stage.judge(trace);
    }

    /// What is left when two turns are over that overlapped.
    pub(super) async fn look_after_both(&mut self, before: Option<Choice>, first: Turned, second: Turned) {
        let after = self.choice().await;
        let pins = self.found_pins().await.map(|found| (self.pins.clone(), found));
        let mut traces = Vec::new();
        for turned in [&first, &second] {
            self.note_leases(turned);
            self.note_asked(turned);
            let mut trace = lock(&turned.trace).clone();
            trace.pins.clone_from(&pins);
            traces.push(trace);
        }
        // What the first one did meanwhile is not known here.
        traces[1].override_ = None;
        let is_disturbed = |trace: &Trace| trace.ending == Ending::Crashed || trace.lost(File::Sessions);
        if let Some((before, after)) = before.zip(after)
            && !traces.iter().any(is_disturbed)
        {
            let of_chains = traces.iter().flat_map(|trace| &trace.chain);
            let mut written: Vec<String> = of_chains
                .map(|candidate| format!("{}/{}", candidate.provider, candidate.model))
                .collect();
            written.sort();
            written.dedup();
            traces[1].overlap = Some(Overlap {
                before,
                after,
                written,
            });
        }
        for trace in traces {
            self.stage.judge(trace);
        }
    }

    fn note_leases(&self, turned: &Turned) {
        let agent = &self.stage.agents[self.session.agent];
        let snapshot = agent.usage.store.snapshot();
        let mut trace = lock(&turned.trace);
        let mine = format!("{}#", trace.run);
        trace.holds_lease = snapshot.probes.values().any(|probe| {
            probe
                .lease
                .as_ref()
                .is_some_and(|lease| lease.holder.starts_with(&mine))
        });
    }

    fn note_asked(&mut self, turned: &Turned) {
        if !turned.probes_primary {
            return;
        }
        let trace = lock(&turned.trace);
        let asked = trace
            .calls
            .iter()
            .filter(|call| call.candidate == 0)
            .map(|call| call.began)
            .max();
        self.last_asked = self.last_asked.max(asked.unwrap_or(0));
    }

    /// The model that the session is on by itself.
    pub(super) async fn choice(&self) -> Option<Choice> {
        let entry = self.stored().await?;
        let text = |name: &str| entry[name].as_str().map(str::to_owned);
        let joined = |provider: &str, model: &str| match (text(provider), text(model)) {
            (None, None) => None,
            (provider, model) => Some(format!(
                "{}/{}",
                provider.unwrap_or_default(),
                model.unwrap_or_default()
            )),
        };
        Some(Choice {
            model: joined("providerOverride", "modelOverride"),
            source: text("modelOverrideSource"),
            origin: joined(
                "modelOverrideFallbackOriginProvider",
                "modelOverrideFallbackOriginModel",
            ),
        })
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
