//! One run to make, and the settings that all runs of a process share.

pub(crate) mod endpoints;
pub(crate) mod plan;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::num::NonZeroUsize;
use std::time::Duration;

use openclaw_auth_store::AuthConfig;
use openclaw_chain::{Needs, Requested, Resolver, Shortfall};
use openclaw_ids::{ModelRef, ProfileId, ProviderId, SessionId, SessionKey};
use openclaw_providers::AuthAliases;
use openclaw_session::{ProfilePin, SelectionSnapshot, TurnKind};

use crate::request::endpoints::EndpointKeys;

/// What one run is asked to do.
#[derive(Debug, Clone)]
pub struct RunRequest {
    /// Names the run in records.
    pub run_id: String,
    /// The session whose selection a fallback is written to; none for stateless runs.
    pub session: Option<RunSession>,
    /// The caller's queue, for records.
    pub lane: Option<String>,
    /// The reference as the caller wrote it, before aliases.
    pub requested: Requested,
    /// The candidates in order; the first is the requested model.
    pub chain: Vec<ModelRef>,
    /// The session's profile pin. A user's pin is strict for providers that share its credentials (R5, R-9.1a).
    pub pin: Option<ProfilePin>,
}

/// The part of a session that a run works on.
#[derive(Debug, Clone)]
pub struct RunSession {
    /// Where the session lives.
    pub key: SessionKey,
    /// The transcript that was current when the run started; a later one is never written to (S1).
    pub id: SessionId,
    /// What kind of turn this is: whether its answer is remembered and people are told of it (S-10.5, S-11.4).
    pub kind: TurnKind,
    /// The selection the run was planned from (S-3.10).
    pub read: SelectionSnapshot,
    /// Whether a fallback is written to the session before it is attempted (S-3.2, S2).
    pub persist: PersistPolicy,
    /// The automatic override this run tries to leave, if it is a probe turn (S-6.4).
    pub probe: Option<openclaw_session::PrimaryProbe>,
    /// The profiles that served the session last, by provider; preferred while they can be used (F-2).
    pub sticky: BTreeMap<ProviderId, ProfileId>,
}

/// Whether a fallback choice is written to the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PersistPolicy {
    /// Written before the attempt, rolled back when it fails.
    BeforeAttempt,
    /// Not written: one-off overrides, and heartbeats on a model of their own (S2).
    Never,
}

/// Settings shared by all runs.
#[derive(Debug, Clone, Default)]
pub struct RunPolicy {
    /// `auth` of the configuration: profiles, order, cooldowns.
    pub auth: AuthConfig,
    /// Providers that share credentials.
    pub aliases: AuthAliases,
    /// Where credentials are used, for faults of the route itself (D4).
    pub endpoints: EndpointKeys,
    /// Settings of our own.
    pub settings: RunSettings,
}

/// Our own run settings (`failover.json5`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunSettings {
    /// `inlineWaitMs`: the longest stated wait that is waited out on the same credential when nothing else is
    /// left (R2).
    pub inline_wait: Duration,
    /// `inlineWait`: when a short stated wait is waited out at all (R2).
    pub inline_wait_when: InlineWait,
    /// `advanceOnFormat`: recognised format faults go to the next model instead of surfacing (A1).
    pub advance_on_format: bool,
    /// How long a fallback that refused its login is skipped in the same session; zero switches that off (R-6.1,
    /// [`parse_skip_ttl`](crate::parse_skip_ttl)).
    pub auth_skip_ttl: Duration,
    /// Limits of every run; a run's own options may be stricter (A8).
    pub limits: RunLimits,
}

/// When a short stated wait is waited out on the same credential (R2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum InlineWait {
    /// Before another credential or candidate is tried.
    Always,
    /// Only when no other credential and no other candidate is left.
    #[default]
    NothingElseLeft,
}

/// How far a run may go, whatever is left to try (A8). Reaching a limit is no failure of a candidate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunLimits {
    /// The most attempts; at least one is made.
    pub attempts: Option<NonZeroUsize>,
    /// The longest time from the start of the run until content comes; at its end the attempt in flight is dropped.
    pub duration: Option<Duration>,
}

impl RunLimits {
    /// The stricter of both in every respect.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        fn stricter<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
            match (one, other) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            }
        }
        Self {
            attempts: stricter(self.attempts, other.attempts),
            duration: stricter(self.duration, other.duration),
        }
    }
}

/// What one run does otherwise than others; see [`Runner::run_with`](crate::Runner::run_with).
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// Limits of this run, beside those of the settings (A8).
    pub limits: RunLimits,
    /// What kind of chain is walked.
    pub kind: ChainKind,
    /// Providers whose runtime manages its own credentials: their candidates are asked without one, whatever is known
    /// to cool down, and nothing is marked.
    pub own_auth: HashSet<ProviderId>,
    /// How long an unattended run waits in all for the only candidate of its chain, when that cools down or refuses for
    /// a limit or for load and says, or is known, to be back in time (BL-91); none for no waiting.
    pub wait_for_reset: Option<Duration>,
    /// Fallbacks that are known not to serve the request, and why: they are skipped (BL-54).
    /// [`incompatible`](crate::incompatible)
    /// finds them.
    pub incompatible: HashMap<ModelRef, Shortfall>,
    /// Credentials that cannot serve this run, whatever is known of them: they leave the order, and nothing is marked.
    pub set_aside: HashSet<ProfileId>,
    /// `contextFallback: "larger"`: set to let a prompt that does not fit go on to larger models (A7).
    pub larger_context: Option<LargerContext>,
}

/// The candidates of `chain` that the configuration says cannot serve `needs`, for [`RunOptions::incompatible`] (BL-54).
pub fn incompatible(resolver: &Resolver, chain: &[ModelRef], needs: &Needs) -> HashMap<ModelRef, Shortfall> {
    let lacking = |model: &ModelRef| {
        let shortfall = resolver.capabilities(model).shortfall(needs)?;
        Some((model.clone(), shortfall))
    };
    chain.iter().filter_map(lacking).collect()
}

/// What kind of chain a run walks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ChainKind {
    /// Models that understand images, for one call: cooldowns are not looked at, nothing is remembered in the
    /// session, and a prompt that does not fit goes on to the next.
    Image,
    /// The models of a conversation.
    #[default]
    Text,
}

/// What is known about the sizes of models and prompt (A7).
#[derive(Debug, Clone, Default)]
pub struct LargerContext {
    /// Context windows in tokens; a model without one is not tried after an overflow.
    pub windows: HashMap<ModelRef, u64>,
    /// The size of the prompt in tokens, if it was counted.
    pub prompt_tokens: Option<u64>,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            inline_wait: Duration::from_secs(5),
            inline_wait_when: InlineWait::default(),
            advance_on_format: false,
            auth_skip_ttl: Duration::ZERO,
            limits: RunLimits::default(),
        }
    }
}
