//! A persistent map of the usage state of every profile: each use of a profile makes a new snapshot, so copies have to
//! be cheap.

use foldhash::fast::RandomState;
use openclaw_cooldown::ProfileUsage;
use openclaw_ids::ProfileId;
use rpds::{HashTrieMapSync, HashTrieSetSync};

/// The usage state of each profile, by its id.
///
/// A copy takes the same time at any number of profiles, and shares with its original whatever neither of them changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UsageMap {
    by_id: HashTrieMapSync<ProfileId, ProfileUsage, RandomState>,
    /// Profiles with windows, open or over, so that finding those that cool down does not visit every profile.
    windowed: HashTrieSetSync<ProfileId, RandomState>,
}

impl UsageMap {
    /// The state of one profile; `None` when it was never used.
    pub fn get(&self, id: &ProfileId) -> Option<&ProfileUsage> {
        self.by_id.get(id)
    }

    /// Whether a profile has usage state.
    pub fn contains_key(&self, id: &ProfileId) -> bool {
        self.by_id.contains_key(id)
    }

    /// Replaces the state of a profile.
    pub fn insert(&mut self, id: ProfileId, usage: ProfileUsage) {
        if !usage.windows.is_empty() {
            self.windowed.insert_mut(id.clone());
        } else if !self.windowed.is_empty() {
            self.windowed.remove_mut(&id);
        }
        self.by_id.insert_mut(id, usage);
    }

    /// Changes the state of a profile, from the default for one that was never used.
    pub fn update(&mut self, id: &ProfileId, fold: impl FnOnce(ProfileUsage) -> ProfileUsage) {
        let usage = self.get(id).cloned().unwrap_or_default();
        self.insert(id.clone(), fold(usage));
    }

    /// Removes a profile.
    pub fn remove(&mut self, id: &ProfileId) {
        if !self.windowed.is_empty() {
            self.windowed.remove_mut(id);
        }
        self.by_id.remove_mut(id);
    }

    /// Whether no profile was ever used.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// Every profile that was ever used, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&ProfileId, &ProfileUsage)> {
        self.by_id.iter()
    }

    /// The ids of every profile that was ever used, in no order.
    pub fn keys(&self) -> impl Iterator<Item = &ProfileId> {
        self.by_id.keys()
    }

    /// Those that have windows, open or over, in no order; all others are usable for every model.
    pub fn windowed(&self) -> impl Iterator<Item = (&ProfileId, &ProfileUsage)> {
        self.windowed
            .iter()
            .filter_map(|id| Some((id, self.by_id.get(id)?)))
    }
}

impl FromIterator<(ProfileId, ProfileUsage)> for UsageMap {
    fn from_iter<I: IntoIterator<Item = (ProfileId, ProfileUsage)>>(entries: I) -> Self {
        let mut usages = Self::default();
        for (id, usage) in entries {
            usages.insert(id, usage);
        }
        usages
    }
}

#[cfg(test)]
mod tests {
    use openclaw_classify::Reason;
    use openclaw_cooldown::{Lane, Window, clear};

    use super::*;
    use crate::store::conformance::{at, profile};

    fn resting() -> ProfileUsage {
        let mut usage = ProfileUsage::default();
        usage
            .windows
            .insert(Lane::Profile, Window::new(at(0), at(30), Reason::RateLimit));
        usage
    }

    fn windowed(usages: &UsageMap) -> Vec<&str> {
        let mut ids: Vec<&str> = usages.windowed().map(|(id, _)| id.as_str()).collect();
        ids.sort_unstable();
        ids
    }

    #[test]
    fn those_with_windows_are_known_after_every_change() {
        let mut usages = UsageMap::default();
        usages.insert(profile("a"), ProfileUsage::default());
        usages.insert(profile("b"), resting());
        usages.insert(profile("c"), resting());
        assert_eq!(windowed(&usages), ["b", "c"]);
        let copy = usages.clone();
        usages.insert(profile("a"), resting());
        usages.insert(profile("b"), clear(resting()));
        usages.remove(&profile("c"));
        assert_eq!(windowed(&usages), ["a"]);
        assert_eq!(windowed(&copy), ["b", "c"]);
        assert!(!usages.contains_key(&profile("c")) && copy.contains_key(&profile("c")));
    }
}
