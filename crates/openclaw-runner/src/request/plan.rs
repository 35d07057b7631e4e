//! Turns configuration, session and usage state into the request of a run.

use std::collections::BTreeMap;

use jiff::Timestamp;
use openclaw_auth_store::{AuthSnapshot, order_report};
use openclaw_chain::{Requested, Resolver, RunKind, Selection, SelectionFacts};
use openclaw_ids::{AgentId, ModelRef, ProfileId, ProviderId, SessionKey};
use openclaw_session::{
    OrderOrigin, PinFacts, PrimaryProbe, ProfileAvailability, ProfilePin, SessionAge, SessionEntry,
    StoredPin, TurnKind, choose_pin, probe_due, without_auto_selection,
};

use crate::request::{PersistPolicy, RunPolicy, RunRequest, RunSession};

/// What starts a run.
#[derive(Debug, Clone)]
pub struct Turn<'a> {
    /// Names the run in records.
    pub run_id: String,
    /// The agent that runs.
    pub agent: &'a AgentId,
    /// What kind of run it is, for the choice of its model.
    pub run: RunKind,
    /// What kind of turn it is, for what it may do to the session.
    pub kind: TurnKind,
    /// The session; none for stateless runs.
    pub session: Option<TurnSession<'a>>,
    /// The caller's queue, for records.
    pub lane: Option<String>,
}

/// The session a turn belongs to.
#[derive(Debug, Clone, Copy)]
pub struct TurnSession<'a> {
    /// Where it lives.
    pub key: &'a SessionKey,
    /// What it holds now.
    pub entry: &'a SessionEntry,
    /// Whether this is its first turn.
    pub age: SessionAge,
}

/// A run that is ready, and how it came about.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What to run.
    pub request: RunRequest,
    /// Who chose the model, and why.
    pub selection: Selection,
    /// The profile pin to store in the session before the run starts (S-5.3a).
    pub pin_to_store: Option<StoredPin>,
}

/// Plans a turn: who chose the model (S-2.1), whether the session's primary is due to be tried again (S-6.3),
/// which candidates follow and which profile is preferred (S-5).
pub fn plan(
    resolver: &Resolver,
    policy: &RunPolicy,
    snapshot: &AuthSnapshot,
    turn: Turn<'_>,
    now: Timestamp,
) -> Plan {
    let entry = turn.session.map(|session| session.entry);
    let default_provider = resolver.primary().provider().clone();
    let mut facts = SelectionFacts::new(turn.agent, turn.run);
    if let Some(entry) = entry {
        facts = facts.with_stored(entry.stored_override(&default_provider));
    }
    let selection = resolver.select(&facts);
    let rights = turn.kind.rights();
    let probe = entry
        .filter(|_| rights.probes_primary)
        .and_then(|entry| probe_due(entry, &selection.primary, now));
    let requested = probe.as_ref().map_or_else(
        || selection.requested.clone(),
        |probe| Requested::from(probe.primary()),
    );
    let chain = resolver.selected_chain(&requested, &selection);
    let pinned = turn.session.and_then(|session| {
        let first = chain.first()?;
        Some(pin(policy, snapshot, session, first, probe.as_ref(), now))
    });
    let pin_to_store = pinned
        .as_ref()
        .filter(|_| probe.is_none() && turn.kind.remembers_profile())
        .and_then(|(_, stored)| stored.clone());
    let persist = if rights.persists_fallback {
        PersistPolicy::BeforeAttempt
    } else {
        PersistPolicy::Never
    };
    let session = turn.session.map(|session| {
        let mut read = session.entry.selection();
        if let Some(stored) = &pin_to_store {
            read.pin = stored.clone();
        }
        RunSession {
            key: session.key.clone(),
            id: session.entry.session_id.clone(),
            kind: turn.kind,
            read,
            persist,
            probe,
            sticky: sticky(policy, snapshot, session, now),
        }
    });
    let request = RunRequest {
        run_id: turn.run_id,
        session,
        lane: turn.lane,
        requested,
        chain,
        pin: pinned.and_then(|(pin, _)| pin),
    };
    Plan {
        request,
        selection,
        pin_to_store,
    }
}

/// The profiles that served the session last. None of a provider with an explicit order, which an automatic choice never
/// outranks (R6), and none in a new session.
fn sticky(
    policy: &RunPolicy,
    snapshot: &AuthSnapshot,
    session: TurnSession<'_>,
    now: Timestamp,
) -> BTreeMap<ProviderId, ProfileId> {
    let is_derived = |provider: &ProviderId| {
        let report = order_report(snapshot, &policy.auth, &policy.aliases, provider, now);
        !report.basis.is_explicit()
    };
    let served = session.entry.sticky_profiles();
    served
        .filter(|(provider, _)| session.age == SessionAge::Continuing && is_derived(provider))
        .map(|(provider, profile)| (provider.clone(), profile.clone()))
        .collect()
}

/// The run's profile, and what the session remembers of it. A probe turn chooses without the automatic selection
/// it tries to leave (S-5.1c).
fn pin(
    policy: &RunPolicy,
    snapshot: &AuthSnapshot,
    session: TurnSession<'_>,
    requested: &ModelRef,
    probe: Option<&PrimaryProbe>,
    now: Timestamp,
) -> (Option<ProfilePin>, Option<StoredPin>) {
    let provider = requested.provider();
    let report = order_report(snapshot, &policy.auth, &policy.aliases, provider, now);
    let standing = |id: &ProfileId| standing(policy, snapshot, requested, id, now);
    let facts = PinFacts {
        order: &report.order,
        origin: if report.basis.is_explicit() {
            OrderOrigin::Explicit
        } else {
            OrderOrigin::Derived
        },
        availability: &standing,
        session: session.age,
    };
    let decision = match probe {
        Some(_) => choose_pin(&without_auto_selection(session.entry), &facts),
        None => choose_pin(session.entry, &facts),
    };
    (decision.run, decision.stored)
}

fn standing(
    policy: &RunPolicy,
    snapshot: &AuthSnapshot,
    requested: &ModelRef,
    id: &ProfileId,
    now: Timestamp,
) -> ProfileAvailability {
    match snapshot.credential(id) {
        None => ProfileAvailability::Missing,
        Some(credential)
            if !policy
                .aliases
                .share_credentials(credential.provider(), requested.provider()) =>
        {
            ProfileAvailability::Incompatible
        }
        // D15: what cools down for another model serves this one.
        Some(_) if snapshot.usage(id).is_usable(Some(requested.model()), now) => ProfileAvailability::Usable,
        Some(_) => ProfileAvailability::CoolingDown,
    }
}
