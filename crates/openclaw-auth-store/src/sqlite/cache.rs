//! The snapshot that readers get without touching the file.
//!
//! It also holds what the file does not know: uses that are written later, and changes that could not be written.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};

use jiff::Timestamp;
use openclaw_cooldown::CooldownConfig;
use openclaw_ids::ProfileId;

use crate::snapshot::payload::warn_rejected;
use crate::{AmbientProfile, AuthSnapshot, ChangeOutcome, Credentials, LoginChange, StoreError, UsageChange};

/// What is known beside the file: profiles that are not stored, and what pointers lead to.
#[derive(Debug, Clone, Default)]
pub(super) struct Apart {
    ambient: Credentials,
    resolved: HashMap<ProfileId, String>,
}

impl Apart {
    /// Of equal ids the first counts.
    pub(super) fn of(ambient: Vec<AmbientProfile>) -> Self {
        let mut apart = Self::default();
        for profile in ambient {
            apart.ambient.entry(profile.id).or_insert(profile.credential);
        }
        apart
    }

    pub(super) fn add_to(&self, snapshot: &mut AuthSnapshot) {
        snapshot.ambient.clone_from(&self.ambient);
        snapshot.resolved.clone_from(&self.resolved);
    }
}

/// How many changes are kept that could not be written. The oldest go first: the newest say most about now.
const KEPT: usize = 1_024;

/// What is shown, the uses that the file does not know yet (D11), and the changes that it could not take.
pub(super) struct Cache {
    shown: RwLock<Shown>,
    /// Held from before a view of the file is fixed until it is shown, so that an older one never replaces a newer.
    turn: Mutex<()>,
    config: RwLock<Arc<CooldownConfig>>,
}

struct Shown {
    snapshot: Arc<AuthSnapshot>,
    apart: Arc<Apart>,
    uses: HashMap<ProfileId, Timestamp>,
    kept: VecDeque<(UsageChange, Timestamp)>,
    logins: Vec<KeptLogin>,
}

/// A login that the file could not take.
pub(super) type KeptLogin = (ProfileId, LoginChange, Timestamp);

/// The right to show a view of the file.
pub(super) struct Turn<'c>(#[expect(dead_code, reason = "held, not read")] MutexGuard<'c, ()>);

/// Whether the writer has to be told of a use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Noted {
    /// It is the first one that the file does not know.
    First,
    /// The writer knows already that there are some.
    More,
}

impl Cache {
    pub(super) fn new(snapshot: AuthSnapshot, apart: Arc<Apart>, config: CooldownConfig) -> Self {
        warn_rejected(&snapshot.rejected);
        Self {
            shown: RwLock::new(Shown {
                snapshot: Arc::new(snapshot),
                apart,
                uses: HashMap::new(),
                kept: VecDeque::new(),
                logins: Vec::new(),
            }),
            turn: Mutex::new(()),
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

    /// What is known beside the file; the same value as long as nobody has set another one.
    pub(super) fn apart(&self) -> Arc<Apart> {
        Arc::clone(&self.shown.read().unwrap_or_else(PoisonError::into_inner).apart)
    }

    pub(super) fn set_ambient(&self, ambient: Vec<AmbientProfile>) {
        self.set_apart(|apart| apart.ambient = Apart::of(ambient).ambient);
    }

    pub(super) fn set_resolved(&self, resolved: HashMap<ProfileId, String>) {
        self.set_apart(|apart| apart.resolved = resolved);
    }

    fn set_apart(&self, edit: impl FnOnce(&mut Apart)) {
        let mut shown = self.shown.write().unwrap_or_else(PoisonError::into_inner);
        let mut apart = (*shown.apart).clone();
        edit(&mut apart);
        let mut snapshot = (*shown.snapshot).clone();
        apart.add_to(&mut snapshot);
        shown.apart = Arc::new(apart);
        shown.snapshot = Arc::new(snapshot.with_current_secrets());
    }

    /// Waits until no other view of the file is on its way.
    pub(super) fn turn(&self) -> Turn<'_> {
        Turn(self.turn.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The same, when that is now.
    pub(super) fn try_turn(&self) -> Option<Turn<'_>> {
        match self.turn.try_lock() {
            Ok(turn) => Some(Turn(turn)),
            Err(TryLockError::Poisoned(poisoned)) => Some(Turn(poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Shows a view of the file that was made with `apart`; `written` is what the file knows by now.
    pub(super) fn show(
        &self,
        _turn: &Turn<'_>,
        mut snapshot: AuthSnapshot,
        apart: &Arc<Apart>,
        written: &Unwritten,
    ) {
        let mut shown = self.shown.write().unwrap_or_else(PoisonError::into_inner);
        for (profile, at) in &written.uses {
            if shown.uses.get(profile) == Some(at) {
                shown.uses.remove(profile);
            }
        }
        let arrived = written.kept.len().min(shown.kept.len());
        shown.kept.drain(..arrived);
        let arrived = written.logins.len().min(shown.logins.len());
        shown.logins.drain(..arrived);
        if !Arc::ptr_eq(&shown.apart, apart) {
            shown.apart.add_to(&mut snapshot);
            snapshot = snapshot.with_current_secrets();
        }
        if snapshot.rejected != shown.snapshot.rejected {
            warn_rejected(&snapshot.rejected);
        }
        for (id, change, at) in &shown.logins {
            snapshot.apply_login(id, change, *at);
        }
        for (change, at) in &shown.kept {
            snapshot.apply(change, *at, &self.config());
        }
        for (profile, at) in &shown.uses {
            snapshot.apply(&used(profile), *at, &self.config());
        }
        shown.snapshot = Arc::new(snapshot);
    }

    /// Shows a use at once and keeps it for the writer (D11).
    pub(super) fn note_use(
        &self,
        profile: &ProfileId,
        now: Timestamp,
    ) -> Result<(ChangeOutcome, Noted), StoreError> {
        let change = used(profile);
        {
            let shown = self.shown.read().unwrap_or_else(PoisonError::into_inner);
            shown.snapshot.check(&change)?;
            if shown.snapshot.knows_use(profile, now) {
                return Ok((ChangeOutcome::Unchanged, Noted::More));
            }
        }
        let mut shown = self.shown.write().unwrap_or_else(PoisonError::into_inner);
        let applied = Arc::make_mut(&mut shown.snapshot).apply(&change, now, &self.config());
        let noted = if shown.uses.is_empty() {
            Noted::First
        } else {
            Noted::More
        };
        let latest = shown.uses.entry(profile.clone()).or_insert(now);
        *latest = now.max(*latest);
        Ok((applied, noted))
    }

    /// Shows a change that could not be written, and keeps it for the next write: a key that was refused rests all
    /// the same while the disk is full. Leases are left out, since nobody else would know of them.
    pub(super) fn keep(&self, change: &UsageChange, now: Timestamp) {
        if !outlives_the_file(change) {
            return;
        }
        let mut shown = self.shown.write().unwrap_or_else(PoisonError::into_inner);
        if shown.snapshot.check(change).is_err() {
            return;
        }
        Arc::make_mut(&mut shown.snapshot).apply(change, now, &self.config());
        if shown.kept.len() == KEPT {
            shown.kept.pop_front();
        }
        shown.kept.push_back((change.clone(), now));
    }

    /// Shows tokens that could not be written, and keeps them for the next write: the provider gave them once, and took
    /// the old ones back. The right to refresh is left out, since nobody else would know of it.
    pub(super) fn keep_login(&self, id: &ProfileId, change: &LoginChange, now: Timestamp) {
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

    /// Whether there are changes that the file could not take.
    pub(super) fn keeps_changes(&self) -> bool {
        let shown = self.shown.read().unwrap_or_else(PoisonError::into_inner);
        !shown.kept.is_empty() || !shown.logins.is_empty()
    }

    /// What the file does not know.
    pub(super) fn unwritten(&self) -> Unwritten {
        let shown = self.shown.read().unwrap_or_else(PoisonError::into_inner);
        Unwritten {
            uses: shown
                .uses
                .iter()
                .map(|(profile, at)| (profile.clone(), *at))
                .collect(),
            kept: shown.kept.iter().cloned().collect(),
            logins: shown.logins.clone(),
        }
    }
}

/// What a write has to bring to the file beside its own changes.
#[derive(Default)]
pub(super) struct Unwritten {
    pub(super) uses: Vec<(ProfileId, Timestamp)>,
    /// Oldest first.
    pub(super) kept: Vec<(UsageChange, Timestamp)>,
    /// Oldest first.
    pub(super) logins: Vec<KeptLogin>,
}

impl Unwritten {
    pub(super) fn is_empty(&self) -> bool {
        self.uses.is_empty() && self.kept.is_empty() && self.logins.is_empty()
    }

    /// Whether the file should be told before long, and not only with the next change.
    pub(super) fn is_urgent(&self) -> bool {
        !self.uses.is_empty() || !self.logins.is_empty()
    }

    /// When each of it happened.
    pub(super) fn times(&self) -> impl Iterator<Item = Timestamp> + '_ {
        let uses = self.uses.iter().map(|(_, at)| *at);
        let kept = self.kept.iter().map(|(_, at)| *at);
        uses.chain(kept).chain(self.logins.iter().map(|(_, _, at)| *at))
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
