//! The cached snapshot: what readers get without touching the file.
//!
//! It also buffers what the file lacks: uses that are written later, and changes that could not be written.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};

use jiff::Timestamp;
use openclaw_cooldown::CooldownConfig;
use openclaw_ids::ProfileId;

use crate::snapshot::payload::warn_rejected;
use crate::{AmbientProfile, AuthSnapshot, ChangeOutcome, Credentials, LoginChange, StoreError, UsageChange};

/// State that is not stored: ambient profiles, and what secret references resolve to.
#[derive(Debug, Clone, Default)]
pub(super) struct UnstoredState {
    ambient: Credentials,
    resolved: HashMap<ProfileId, String>,
}

impl UnstoredState {
    /// Of profiles with the same id the first counts.
    pub(super) fn of(ambient: Vec<AmbientProfile>) -> Self {
        let mut unstored = Self::default();
        for profile in ambient {
            unstored.ambient.entry(profile.id).or_insert(profile.credential);
        }
        unstored
    }

    pub(super) fn add_to(&self, snapshot: &mut AuthSnapshot) {
        snapshot.ambient.clone_from(&self.ambient);
        snapshot.resolved.clone_from(&self.resolved);
    }
}

/// How many changes are buffered that could not be written. The oldest are dropped first.
const MAX_BUFFERED: usize = 1_024;

/// The shown snapshot, the uses that are not written yet (D11), and the changes that could not be written.
pub(super) struct Cache {
    shown: RwLock<ShownState>,
    /// Held from before the file is read until the result is shown, so that an older view never replaces a newer one.
    publishing: Mutex<()>,
    config: RwLock<Arc<CooldownConfig>>,
}

struct ShownState {
    snapshot: Arc<AuthSnapshot>,
    unstored: Arc<UnstoredState>,
    uses: HashMap<ProfileId, Timestamp>,
    buffered: VecDeque<(UsageChange, Timestamp)>,
    logins: Vec<BufferedLogin>,
}

/// A change of a login that could not be written.
pub(super) type BufferedLogin = (ProfileId, LoginChange, Timestamp);

/// The exclusive right to replace the shown snapshot.
pub(super) struct PublishGuard<'c>(#[expect(dead_code, reason = "held, not read")] MutexGuard<'c, ()>);

/// Whether other uses were pending when a use was noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PendingUse {
    /// It is the only pending one; the writer has to be notified.
    First,
    /// The writer has been notified already.
    More,
}

impl Cache {
    pub(super) fn new(snapshot: AuthSnapshot, unstored: Arc<UnstoredState>, config: CooldownConfig) -> Self {
        warn_rejected(&snapshot.rejected);
        Self {
            shown: RwLock::new(ShownState {
                snapshot: Arc::new(snapshot),
                unstored,
                uses: HashMap::new(),
                buffered: VecDeque::new(),
                logins: Vec::new(),
            }),
            publishing: Mutex::new(()),
            config: RwLock::new(Arc::new(config)),
        }
    }

    pub(super) fn config(&self) -> Arc<CooldownConfig> {
        Arc::clone(&self.config.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn set_config(&self, config: CooldownConfig) {
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
    }

    pub(super) fn snapshot(&self) -> Arc<AuthSnapshot> {
        Arc::clone(&self.shown.read().unwrap_or_else(PoisonError::into_inner).snapshot)
    }

    /// The state that is not stored; the same `Arc` until it is changed.
    pub(super) fn unstored(&self) -> Arc<UnstoredState> {
        Arc::clone(&self.shown.read().unwrap_or_else(PoisonError::into_inner).unstored)
    }

    pub(super) fn set_ambient(&self, ambient: Vec<AmbientProfile>) {
        self.set_unstored(|unstored| unstored.ambient = UnstoredState::of(ambient).ambient);
    }

    pub(super) fn set_resolved(&self, resolved: HashMap<ProfileId, String>) {
        self.set_unstored(|unstored| unstored.resolved = resolved);
    }

    fn set_unstored(&self, edit: impl FnOnce(&mut UnstoredState)) {
        let mut shown = self.shown.write().unwrap_or_else(PoisonError::into_inner);
        let mut unstored = (*shown.unstored).clone();
        edit(&mut unstored);
        let mut snapshot = (*shown.snapshot).clone();
        unstored.add_to(&mut snapshot);
        shown.unstored = Arc::new(unstored);
        shown.snapshot = Arc::new(snapshot.with_current_secrets());
    }

    /// Waits until no other thread is replacing the snapshot.
    pub(super) fn publish_guard(&self) -> PublishGuard<'_> {
        PublishGuard(self.publishing.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Like [`publish_guard`](Self::publish_guard), without waiting.
    pub(super) fn try_publish_guard(&self) -> Option<PublishGuard<'_>> {
        match self.publishing.try_lock() {
            Ok(turn) => Some(PublishGuard(turn)),
            Err(TryLockError::Poisoned(poisoned)) => Some(PublishGuard(poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Shows a view of the file that was made with `unstored`; `written` is what has reached the file by now.
    pub(super) fn publish(
        &self,
        _guard: &PublishGuard<'_>,
        mut snapshot: AuthSnapshot,
        unstored: &Arc<UnstoredState>,
        written: &UnwrittenChanges,
    ) {
        let mut shown = self.shown.write().unwrap_or_else(PoisonError::into_inner);
        for (profile, at) in &written.uses {
            if shown.uses.get(profile) == Some(at) {
                shown.uses.remove(profile);
            }
        }
        let arrived = written.buffered.len().min(shown.buffered.len());
        shown.buffered.drain(..arrived);
        let arrived = written.logins.len().min(shown.logins.len());
        shown.logins.drain(..arrived);
        if !Arc::ptr_eq(&shown.unstored, unstored) {
            shown.unstored.add_to(&mut snapshot);
            snapshot = snapshot.with_current_secrets();
        }
        if snapshot.rejected != shown.snapshot.rejected {
            warn_rejected(&snapshot.rejected);
        }
        for (id, change, at) in &shown.logins {
            snapshot.apply_login(id, change, *at);
        }
        for (change, at) in &shown.buffered {
            snapshot.apply(change, *at, &self.config());
        }
        for (profile, at) in &shown.uses {
            snapshot.apply(&used(profile), *at, &self.config());
        }
        shown.snapshot = Arc::new(snapshot);
    }

    /// Shows a use at once and buffers it for the writer (D11).
    pub(super) fn note_use(
        &self,
        profile: &ProfileId,
        now: Timestamp,
    ) -> Result<(ChangeOutcome, PendingUse), StoreError> {
        let change = used(profile);
        {
            let shown = self.shown.read().unwrap_or_else(PoisonError::into_inner);
            shown.snapshot.check(&change)?;
            if shown.snapshot.knows_use(profile, now) {
                return Ok((ChangeOutcome::Unchanged, PendingUse::More));
            }
        }
        let mut shown = self.shown.write().unwrap_or_else(PoisonError::into_inner);
        let applied = Arc::make_mut(&mut shown.snapshot).apply(&change, now, &self.config());
        let noted = if shown.uses.is_empty() {
            PendingUse::First
        } else {
            PendingUse::More
        };
        let latest = shown.uses.entry(profile.clone()).or_insert(now);
        *latest = now.max(*latest);
        Ok((applied, noted))
    }

    /// Shows a change that could not be written, and buffers it for the next write: a refused key cools down even
    /// while the disk is full. Leases are left out, since no other process would see them.
    pub(super) fn buffer(&self, change: &UsageChange, now: Timestamp) {
        if !outlives_the_file(change) {
            return;
        }
        let mut shown = self.shown.write().unwrap_or_else(PoisonError::into_inner);
        if shown.snapshot.check(change).is_err() {
            return;
        }
        Arc::make_mut(&mut shown.snapshot).apply(change, now, &self.config());
        if shown.buffered.len() == MAX_BUFFERED {
            shown.buffered.pop_front();
        }
        shown.buffered.push_back((change.clone(), now));
    }

    /// Shows tokens that could not be written, and buffers them for the next write: the provider issued them once and
    /// revoked the old ones. Refresh leases are left out, since no other process would see them.
    pub(super) fn buffer_login(&self, id: &ProfileId, change: &LoginChange, now: Timestamp) {
        match change {
            LoginChange::Adopt(_) | LoginChange::Renew { .. } => {}
            LoginChange::End { .. } | LoginChange::ForgetGood | LoginChange::Lease { .. } => return,
        }
        let mut shown = self.shown.write().unwrap_or_else(PoisonError::into_inner);
        let applied = Arc::make_mut(&mut shown.snapshot).apply_login(id, change, now);
        if applied == ChangeOutcome::Done {
            shown.logins.push((id.clone(), change.clone(), now));
        }
    }

    /// Whether there are changes that could not be written.
    pub(super) fn has_buffered(&self) -> bool {
        let shown = self.shown.read().unwrap_or_else(PoisonError::into_inner);
        !shown.buffered.is_empty() || !shown.logins.is_empty()
    }

    /// Everything that is not written yet.
    pub(super) fn unwritten(&self) -> UnwrittenChanges {
        let shown = self.shown.read().unwrap_or_else(PoisonError::into_inner);
        UnwrittenChanges {
            uses: shown
                .uses
                .iter()
                .map(|(profile, at)| (profile.clone(), *at))
                .collect(),
            buffered: shown.buffered.iter().cloned().collect(),
            logins: shown.logins.clone(),
        }
    }
}

/// What a write adds to its own changes: everything that was not written before.
#[derive(Default)]
pub(super) struct UnwrittenChanges {
    pub(super) uses: Vec<(ProfileId, Timestamp)>,
    /// Oldest first.
    pub(super) buffered: Vec<(UsageChange, Timestamp)>,
    /// Oldest first.
    pub(super) logins: Vec<BufferedLogin>,
}

impl UnwrittenChanges {
    pub(super) fn is_empty(&self) -> bool {
        self.uses.is_empty() && self.buffered.is_empty() && self.logins.is_empty()
    }

    /// Whether it should be written soon, and not only with the next change.
    pub(super) fn is_urgent(&self) -> bool {
        !self.uses.is_empty() || !self.logins.is_empty()
    }

    /// When each of it happened.
    pub(super) fn times(&self) -> impl Iterator<Item = Timestamp> + '_ {
        let uses = self.uses.iter().map(|(_, at)| *at);
        let buffered = self.buffered.iter().map(|(_, at)| *at);
        uses.chain(buffered)
            .chain(self.logins.iter().map(|(_, _, at)| *at))
    }
}

fn outlives_the_file(change: &UsageChange) -> bool {
    match change {
        UsageChange::Clear { .. }
        | UsageChange::ClearLane { .. }
        | UsageChange::EndpointFailure { .. }
        | UsageChange::EndpointSuccess { .. }
        | UsageChange::StatedEnd { .. }
        | UsageChange::Failure { .. }
        | UsageChange::CoolDown { .. }
        | UsageChange::Success { .. } => true,
        UsageChange::ProbeEnd { .. }
        | UsageChange::ProbeRenew { .. }
        | UsageChange::ProbeStart { .. }
        | UsageChange::Used { .. } => false,
    }
}

fn used(profile: &ProfileId) -> UsageChange {
    UsageChange::Used {
        profile: profile.clone(),
    }
}
