//! What a turn leaves behind, for the checks.

use openclaw_auth_store::UsageStore;

use super::stored::Stored;
use super::turn::Turned;
use super::{Person, lock};
use crate::faults::store_outage::File;
use crate::trace::{Choice, Ending, Overlap, Pins, Trace};

impl Person {
    /// What is left when a turn is over.
    pub(super) async fn look_after(&mut self, turned: Turned) {
        let after = self.stored().await;
        if let Some(model) = &turned.picked {
            self.pins = Pins {
                model: Some(model.clone()),
                profile: None,
            };
        }
        self.note_leases(&turned);
        self.note_asked(&turned);
        let mut trace = lock(&turned.trace).clone();
        trace.logins = self.stage.world.logins.take_seen(self.session.agent);
        if turned.picked.is_none() {
            trace.selection = turned.before.zip(after.as_ref().map(Stored::selection));
        }
        trace.pins = after.map(|after| (self.pins.clone(), after.pins()));
        self.stage.judge(trace);
    }

    /// What is left when two turns are over that overlapped.
    pub(super) async fn look_after_both(&mut self, before: Option<Choice>, first: Turned, second: Turned) {
        let after = self.stored().await;
        let pins = after.as_ref().map(|after| (self.pins.clone(), after.pins()));
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
        if let Some((before, after)) = before.zip(after.as_ref().map(Stored::choice))
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
}
