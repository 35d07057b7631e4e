//! The credentials of an agent: whose they are, whether they can be used, and which windows keep them waiting.

use std::collections::BTreeMap;

use jiff::Timestamp;
use openclaw_auth_store::{
    AuthSnapshot, Credential, EXPIRY_WARNING, Eligibility, ExcludedProfile, ExclusionReason, Expiry, Health,
    KeySource, OrderBasis, ProfileOwner, eligibility, health, order_report, profile_owner,
};
use openclaw_classify::Reason;
use openclaw_cooldown::{GateFacts, Lane, Position, ProbeSlot, ProfileUsage, Window};
use openclaw_ids::{AgentId, ModelId, ProfileId, ProviderId};
use serde::{Serialize, Serializer};

use super::probes::next_probe;
use super::unix_millis::{maybe_millis, millis};
use super::{AgentState, Installation, usable_profiles};
use crate::providers::ambient::is_from_environment;

/// All credentials that an agent works with, in rotation order per provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProfilesReport {
    /// The agent.
    pub agent: AgentId,
    /// One per credential, by provider; within one, the order in which they are tried, then what is not tried.
    pub profiles: Vec<ProfileReport>,
    /// How each provider's order came about.
    pub orders: Vec<OrderOfProvider>,
    /// Stored entries that are no credentials, by their key; they are left as they are.
    pub rejected: Vec<String>,
}

/// One credential. Neither the secret nor where it is kept is told (auth-store.md Z2), unless it is not there: what has to
/// be mended is named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProfileReport {
    /// Its id.
    pub id: ProfileId,
    /// The provider it is for.
    pub provider: ProviderId,
    /// `api_key`, `local`, `oauth` or `token`.
    pub kind: &'static str,
    /// The agent in whose store it and its state live (D14).
    pub owner: AgentId,
    /// Where the secret is: `stored`, `reference`, `configuration`, `environment`, or `none`.
    pub secret: &'static str,
    /// The account's address, when the credential names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// What people call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Why it can or cannot be used for its provider, as a reason code (auth-store.md 11); `ok` when it can, and
    /// `unresolved_ref` also when its pointer leads nowhere.
    pub eligibility: Eligibility,
    /// Why it is tried in vain although it is stored, and what to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// `expired`, `expiring`, `missing`, `ok` or `static` (auth-store.md 10).
    pub health: Health,
    /// Whether it is a login that is renewed by itself.
    pub renews: bool,
    /// When the token ends.
    #[serde(serialize_with = "maybe_millis")]
    pub expires: Option<Timestamp>,
    /// The place in its provider's order, from 1; none when it is not tried at all.
    pub position: Option<usize>,
    /// Why it is not tried, as a reason code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passed_over: Option<ExclusionReason>,
    /// The last use.
    #[serde(serialize_with = "maybe_millis")]
    pub last_used: Option<Timestamp>,
    /// The last failure.
    #[serde(serialize_with = "maybe_millis")]
    pub last_failure_at: Option<Timestamp>,
    /// Failures since the last success or clear.
    pub failure_counts: BTreeMap<Reason, u64>,
    /// The windows that are active now, those of the whole profile first.
    pub windows: Vec<WindowReport>,
}

/// One time during which a credential is not used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WindowReport {
    /// `profile`, `billing`, `auth_permanent`, `blocked` or `model:<id>`.
    pub lane: Lane,
    /// The one model that waits; none when all models of the profile do.
    pub model: Option<ModelId>,
    /// Why.
    pub reason: Reason,
    /// When it opened.
    #[serde(serialize_with = "millis")]
    pub since: Timestamp,
    /// The first instant that is free again.
    #[serde(serialize_with = "millis")]
    pub until: Timestamp,
    /// Whether the end is the one that the provider stated.
    pub stated: bool,
    /// How many times in a row, the step of its ladder.
    pub steps: u32,
    /// When a run that wants it first would try it before the end; none when none would.
    #[serde(serialize_with = "maybe_millis")]
    pub next_probe: Option<Timestamp>,
}

/// The order in which one provider's credentials are tried, and which list it was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderOfProvider {
    /// The provider.
    pub provider: ProviderId,
    /// `agent_order`, `config_order`, `configured_profiles` or `stored_profiles`.
    #[serde(serialize_with = "basis")]
    pub basis: OrderBasis,
    /// Whether a person wrote the list as one of priorities.
    pub explicit: bool,
    /// What is tried, best first.
    pub order: Vec<ProfileId>,
    /// Named or stored, and not tried, with the reason code.
    pub passed_over: BTreeMap<ProfileId, ExclusionReason>,
}

impl ProfilesReport {
    /// Reports the credentials of an agent at `now`.
    pub fn of(installation: &Installation<'_>, state: &AgentState<'_>, now: Timestamp) -> Self {
        let mut providers: Vec<&ProviderId> = Vec::new();
        let known = state.seen.profiles.values().chain(state.seen.ambient.values());
        for credential in known {
            if !providers.contains(&credential.provider()) {
                providers.push(credential.provider());
            }
        }
        let orders: Vec<OrderOfProvider> = providers
            .iter()
            .map(|provider| OrderOfProvider::of(installation, state.seen, provider, now))
            .collect();
        let mut profiles = Vec::new();
        for order in &orders {
            let own = ids_of(state.seen, &order.provider);
            let listed = order.order.iter().filter(|id| own.contains(id));
            let rest = own.iter().filter(|id| !order.order.contains(*id));
            for id in listed.chain(rest.copied()) {
                profiles.extend(ProfileReport::of(installation, state, order, id, now));
            }
        }
        Self {
            agent: state.agent.clone(),
            profiles,
            orders,
            rejected: state.own.rejected.iter().map(|(key, _)| key.clone()).collect(),
        }
    }
}

/// The credentials that are for a provider, stored ones first.
fn ids_of<'a>(snapshot: &'a AuthSnapshot, provider: &ProviderId) -> Vec<&'a ProfileId> {
    let ambient = snapshot.ambient.iter();
    let ambient = ambient.filter(|(id, _)| !snapshot.profiles.contains_key(*id));
    let all = snapshot.profiles.iter().chain(ambient);
    all.filter(|(_, credential)| credential.provider() == provider)
        .map(|(id, _)| id)
        .collect()
}

impl OrderOfProvider {
    /// Reports how a provider's order comes about.
    pub fn of(
        installation: &Installation<'_>,
        snapshot: &AuthSnapshot,
        provider: &ProviderId,
        now: Timestamp,
    ) -> Self {
        let report = order_report(
            snapshot,
            &installation.config.auth,
            installation.aliases,
            provider,
            now,
        );
        let passed_over = report.passed_over.into_iter();
        Self {
            provider: provider.clone(),
            basis: report.basis,
            explicit: report.basis.is_explicit(),
            order: report.order,
            passed_over: passed_over
                .map(|ExcludedProfile { profile, why }| (profile, why))
                .collect(),
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde asks for"
)]
fn basis<S: Serializer>(basis: &OrderBasis, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match basis {
        OrderBasis::AgentOrder => "agent_order",
        OrderBasis::ConfigOrder => "config_order",
        OrderBasis::ConfiguredProfiles => "configured_profiles",
        OrderBasis::StoredProfiles => "stored_profiles",
    })
}

impl ProfileReport {
    /// Whether it stands for a server that needs no credential.
    pub fn is_local(&self) -> bool {
        self.kind == "local"
    }

    /// Whether it stands for a server that needs no credential, and that was never called: every known one has it.
    pub fn is_idle_local(&self) -> bool {
        self.is_local() && self.last_used.is_none() && self.windows.is_empty()
    }

    /// Its windows without those that another one covers: as wide, as long, and for the same reason.
    pub fn telling_windows(&self) -> impl Iterator<Item = &WindowReport> {
        telling(&self.windows)
    }

    fn of(
        installation: &Installation<'_>,
        state: &AgentState<'_>,
        order: &OrderOfProvider,
        id: &ProfileId,
        now: Timestamp,
    ) -> Option<Self> {
        let credential = state.seen.credential(id)?;
        let usage = state.seen.usage(id);
        let attributes = match credential {
            Credential::ApiKey(key) => Some(&key.attributes),
            Credential::Local(_) => None,
            Credential::Oauth(login) => Some(&login.attributes),
            Credential::Token(token) => Some(&token.attributes),
        };
        let usable = eligibility(
            state.seen,
            &installation.config.auth,
            installation.aliases,
            &order.provider,
            id,
            now,
        );
        let problem = usable_profiles::problem(installation, state.seen, id);
        let candidates = installation.resolver.configured_chain(state.agent).len();
        let mut windows: Vec<WindowReport> = usage
            .blocking(None, now)
            .map(|(lane, window)| {
                WindowReport::of(
                    state.seen,
                    credential.provider(),
                    usage,
                    (lane, window),
                    candidates,
                    now,
                )
            })
            .collect();
        windows.sort_by_key(|window| window.model.is_some());
        Some(Self {
            id: id.clone(),
            provider: credential.provider().clone(),
            kind: credential.mode(),
            owner: owner(state, id),
            secret: place(state.seen, id, credential),
            email: attributes.and_then(|attributes| attributes.email.clone()),
            display_name: attributes.and_then(|attributes| attributes.display_name.clone()),
            eligibility: match &problem {
                Some(_) if usable.is_ok() => Eligibility::UnresolvedRef,
                Some(_) | None => usable,
            },
            problem,
            health: health(credential, now, EXPIRY_WARNING),
            renews: matches!(credential, Credential::Oauth(login) if login.refresh.is_some()),
            expires: credential.expires().and_then(|end| match end {
                Expiry::At(end) => Timestamp::from_millisecond(end).ok(),
                Expiry::Invalid => None,
            }),
            position: order
                .order
                .iter()
                .position(|listed| listed == id)
                .map(|at| at + 1),
            passed_over: order.passed_over.get(id).copied(),
            last_used: usage.last_used,
            last_failure_at: usage.last_failure_at,
            failure_counts: usage.failure_counts.clone(),
            windows,
        })
    }
}

fn owner(state: &AgentState<'_>, id: &ProfileId) -> AgentId {
    match state.main.map(|main| profile_owner(main, state.own, id)) {
        Some(ProfileOwner::Main) => AgentId::main(),
        Some(ProfileOwner::Agent) | None => state.agent.clone(),
    }
}

/// Where the secret is, without telling anything else about it.
fn place(snapshot: &AuthSnapshot, id: &ProfileId, credential: &Credential) -> &'static str {
    let is_stored = snapshot.profiles.contains_key(id);
    match credential {
        Credential::Local(_) => "none",
        Credential::ApiKey(_) | Credential::Oauth(_) | Credential::Token(_) if !is_stored => {
            if is_from_environment(id) {
                "environment"
            } else {
                "configuration"
            }
        }
        Credential::ApiKey(key) => match &key.key {
            Some(KeySource::Inline(_)) => "stored",
            Some(KeySource::Reference(_)) => "reference",
            None => "none",
        },
        Credential::Oauth(login) => kept(
            login.access.is_some() || login.refresh.is_some(),
            login.oauth_ref.is_some(),
        ),
        Credential::Token(token) => kept(token.token.is_some(), token.token_ref.is_some()),
    }
}

fn kept(is_here: bool, is_elsewhere: bool) -> &'static str {
    match (is_here, is_elsewhere) {
        (true, _) => "stored",
        (false, true) => "reference",
        (false, false) => "none",
    }
}

/// `windows` without those that another one covers: as wide, as long, and for the same reason.
pub(super) fn telling(windows: &[WindowReport]) -> impl Iterator<Item = &WindowReport> {
    let covers = |other: &WindowReport, window: &WindowReport| {
        other.model.is_none() && other.reason == window.reason && other.until > window.until
    };
    let is_covered = move |window: &WindowReport| windows.iter().any(|other| covers(other, window));
    windows.iter().filter(move |window| !is_covered(window))
}

impl WindowReport {
    fn of(
        snapshot: &AuthSnapshot,
        provider: &ProviderId,
        usage: &ProfileUsage,
        (lane, window): (&Lane, &Window),
        candidates: usize,
        now: Timestamp,
    ) -> Self {
        let model = match lane {
            Lane::Model(model) => Some(model.clone()),
            Lane::AuthPermanent | Lane::Billing | Lane::Blocked | Lane::Profile => None,
        };
        let alone = ProfileUsage {
            windows: BTreeMap::from([(lane.clone(), window.clone())]),
            ..usage.clone()
        };
        // A window of the whole profile concerns every model, so any will do.
        let asked = model.clone().or_else(|| ModelId::try_new("any").ok());
        let next_probe = asked.and_then(|model| {
            let facts = GateFacts {
                position: Position::Primary,
                is_only_candidate: candidates == 1,
                model: &model,
                profiles: &[&alone],
                endpoint: None,
                last_probe_at: snapshot.probes.get(provider).map(|probe| probe.last_probe_at),
                has_earlier_sibling: false,
                slot: ProbeSlot::Free,
            };
            next_probe(&facts, now)
        });
        Self {
            lane: lane.clone(),
            model,
            reason: window.reason,
            since: window.opened_at,
            until: window.until,
            stated: window.stated == Some(window.until),
            steps: window.steps,
            next_probe,
        }
    }
}
