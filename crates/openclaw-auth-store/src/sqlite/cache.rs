//! The snapshot that readers get without touching the file.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use indexmap::IndexMap;
use jiff::Timestamp;
use openclaw_cooldown::CooldownConfig;
use openclaw_ids::ProfileId;

use crate::payload::warn_rejected;
use crate::{AmbientProfile, Applied, AuthSnapshot, Credential, StoreError, UsageChange};

/// What is known beside the file: profiles that are not stored, and what pointers lead to.
#[derive(Debug, Clone, Default)]
pub(super) struct Apart {
    ambient: IndexMap<ProfileId, Credential>,
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

    pub(super) fn add_to(self, snapshot: &mut AuthSnapshot) {
        snapshot.ambient = self.ambient;
        snapshot.resolved = self.resolved;
    }
}

/// What is shown, and the uses that the file does not know yet (D11).
pub(super) struct Cache {
    shown: RwLock<Shown>,
    /// Held from before a view of the file is fixed until it is shown, so that an older one never replaces a newer.
    turn: Mutex<()>,
    config: CooldownConfig,
}

struct Shown {
    snapshot: Arc<AuthSnapshot>,
    uses: HashMap<ProfileId, Timestamp>,
}

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
    pub(super) fn new(snapshot: AuthSnapshot, config: CooldownConfig) -> Self {
        warn_rejected(&snapshot.rejected);
        Self {
            shown: RwLock::new(Shown {
                snapshot: Arc::new(snapshot),
                uses: HashMap::new(),
            }),
            turn: Mutex::new(()),
            config,
        }
    }

    pub(super) fn config(&self) -> &CooldownConfig {
        &self.config
    }

    pub(super) fn snapshot(&self) -> Arc<AuthSnapshot> {
        Arc::clone(&self.shown.read().unwrap_or_else(PoisonError::into_inner).snapshot)
    }

    pub(super) fn apart(&self) -> Apart {
        let snapshot = self.snapshot();
        Apart {
            ambient: snapshot.ambient.clone(),
            resolved: snapshot.resolved.clone(),
        }
    }

    pub(super) fn set_ambient(&self, ambient: Vec<AmbientProfile>) {
        self.set_apart(|apart| apart.ambient = Apart::of(ambient).ambient);
    }

    pub(super) fn set_resolved(&self, resolved: HashMap<ProfileId, String>) {
        self.set_apart(|apart| apart.resolved = resolved);
    }

    fn set_apart(&self, edit: impl FnOnce(&mut Apart)) {
        let mut shown = self.shown.write().unwrap_or_else(PoisonError::into_inner);
        let mut snapshot = (*shown.snapshot).clone();
        let mut apart = Apart {
            ambient: std::mem::take(&mut snapshot.ambient),
            resolved: std::mem::take(&mut snapshot.resolved),
        };
        edit(&mut apart);
        apart.add_to(&mut snapshot);
        shown.snapshot = Arc::new(snapshot.with_current_secrets());
    }

    /// Waits until no other view of the file is on its way.
    pub(super) fn turn(&self) -> Turn<'_> {
        Turn(self.turn.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Shows a view of the file; `written` are the uses that it knows.
    pub(super) fn show(
        &self,
        _turn: &Turn<'_>,
        mut snapshot: AuthSnapshot,
        written: &[(ProfileId, Timestamp)],
    ) {
        let mut shown = self.shown.write().unwrap_or_else(PoisonError::into_inner);
        for (profile, at) in written {
            if shown.uses.get(profile) == Some(at) {
                shown.uses.remove(profile);
            }
        }
        snapshot.ambient.clone_from(&shown.snapshot.ambient);
        snapshot.resolved.clone_from(&shown.snapshot.resolved);
        let mut snapshot = snapshot.with_current_secrets();
        if snapshot.rejected != shown.snapshot.rejected {
            warn_rejected(&snapshot.rejected);
        }
        for (profile, at) in &shown.uses {
            snapshot.apply(&used(profile), *at, &self.config);
        }
        shown.snapshot = Arc::new(snapshot);
    }

    /// Shows a use at once and keeps it for the writer (D11).
    pub(super) fn note_use(
        &self,
        profile: &ProfileId,
        now: Timestamp,
    ) -> Result<(Applied, Noted), StoreError> {
        let mut shown = self.shown.write().unwrap_or_else(PoisonError::into_inner);
        let change = used(profile);
        shown.snapshot.check(&change)?;
        let applied = Arc::make_mut(&mut shown.snapshot).apply(&change, now, &self.config);
        let noted = if shown.uses.is_empty() {
            Noted::First
        } else {
            Noted::More
        };
        let latest = shown.uses.entry(profile.clone()).or_insert(now);
        *latest = now.max(*latest);
        Ok((applied, noted))
    }

    /// The uses that the file does not know yet.
    pub(super) fn unwritten_uses(&self) -> Vec<(ProfileId, Timestamp)> {
        let shown = self.shown.read().unwrap_or_else(PoisonError::into_inner);
        shown
            .uses
            .iter()
            .map(|(profile, at)| (profile.clone(), *at))
            .collect()
    }
}

fn used(profile: &ProfileId) -> UsageChange {
    UsageChange::Used {
        profile: profile.clone(),
    }
}
