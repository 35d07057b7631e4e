//! A map of profiles by id that also finds those of a provider quickly.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use indexmap::{IndexMap, map};
use openclaw_ids::{ProfileId, ProviderId};

use super::Credential;

/// Up to this size a linear search is faster than an index.
const FEW: usize = 16;

/// Credentials in stored order.
pub type Credentials = ProfileMap<Credential>;

/// A value that belongs to a provider.
pub trait HasProvider {
    /// The provider.
    fn provider(&self) -> &ProviderId;
}

impl HasProvider for Credential {
    fn provider(&self) -> &ProviderId {
        self.provider()
    }
}

/// Profiles by id in their order; dereferences to the map.
///
/// Copies share the map until one of them changes, since each use of a profile makes a new snapshot. Profiles of a
/// provider are found over an index, since a run over a thousand providers asks a thousand times.
#[derive(Debug, Clone)]
pub struct ProfileMap<T> {
    shared: Arc<Shared<T>>,
}

#[derive(Debug)]
struct Shared<T> {
    by_id: IndexMap<ProfileId, T>,
    /// Indices into the map, by provider and then in their order; made by the first query.
    by_provider: OnceLock<Vec<usize>>,
}

impl<T: Clone> Clone for Shared<T> {
    /// Made for a change, after which the indices may differ.
    fn clone(&self) -> Self {
        Self::of(self.by_id.clone())
    }
}

impl<T> Shared<T> {
    fn of(by_id: IndexMap<ProfileId, T>) -> Self {
        Self {
            by_id,
            by_provider: OnceLock::new(),
        }
    }
}

impl<T: HasProvider> ProfileMap<T> {
    /// The profiles of any of `providers`, in their order.
    pub fn of<'a>(&'a self, providers: &[&ProviderId]) -> Vec<(&'a ProfileId, &'a T)> {
        let by_id = &self.shared.by_id;
        if by_id.len() <= FEW {
            return by_id
                .iter()
                .filter(|(_, profile)| providers.contains(&profile.provider()))
                .collect();
        }
        let sorted = self.shared.by_provider.get_or_init(|| {
            let mut places: Vec<usize> = (0..by_id.len()).collect();
            places.sort_by_key(|place| by_id[*place].provider());
            places
        });
        let mut places = Vec::new();
        for (number, provider) in providers.iter().enumerate() {
            if providers[..number].contains(provider) {
                continue;
            }
            let from = sorted.partition_point(|place| by_id[*place].provider() < *provider);
            let ours = |place: &&usize| by_id[**place].provider() == *provider;
            places.extend(sorted[from..].iter().take_while(ours).copied());
        }
        places.sort_unstable();
        places
            .into_iter()
            .filter_map(|place| by_id.get_index(place))
            .collect()
    }
}

impl<T> ProfileMap<T> {
    /// Whether both are the same map, as copies are until one of them changes.
    pub(crate) fn is_copy_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl<T> Default for ProfileMap<T> {
    fn default() -> Self {
        Self::from(IndexMap::new())
    }
}

impl<T: PartialEq> PartialEq for ProfileMap<T> {
    fn eq(&self, other: &Self) -> bool {
        self.is_copy_of(other) || self.shared.by_id == other.shared.by_id
    }
}

impl<T: Eq> Eq for ProfileMap<T> {}

impl<T> Deref for ProfileMap<T> {
    type Target = IndexMap<ProfileId, T>;

    fn deref(&self) -> &Self::Target {
        &self.shared.by_id
    }
}

impl<T: Clone> DerefMut for ProfileMap<T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        let shared = Arc::make_mut(&mut self.shared);
        shared.by_provider.take();
        &mut shared.by_id
    }
}

impl<T> From<IndexMap<ProfileId, T>> for ProfileMap<T> {
    fn from(by_id: IndexMap<ProfileId, T>) -> Self {
        Self {
            shared: Arc::new(Shared::of(by_id)),
        }
    }
}

impl<T> FromIterator<(ProfileId, T)> for ProfileMap<T> {
    fn from_iter<I: IntoIterator<Item = (ProfileId, T)>>(profiles: I) -> Self {
        Self::from(IndexMap::from_iter(profiles))
    }
}

impl<T: Clone> IntoIterator for ProfileMap<T> {
    type Item = (ProfileId, T);
    type IntoIter = map::IntoIter<ProfileId, T>;

    fn into_iter(self) -> Self::IntoIter {
        let shared = Arc::try_unwrap(self.shared).unwrap_or_else(|shared| (*shared).clone());
        shared.by_id.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a ProfileMap<T> {
    type Item = (&'a ProfileId, &'a T);
    type IntoIter = map::Iter<'a, ProfileId, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.shared.by_id.iter()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn provider(number: usize) -> ProviderId {
        ProviderId::try_new(&format!("p{number}")).unwrap()
    }

    fn put(credentials: &mut Credentials, number: usize, of: usize) {
        let key = json!({ "type": "api_key", "provider": provider(of).as_str(), "key": "k" });
        let id = ProfileId::try_new(&format!("id:{number}")).unwrap();
        credentials.insert(id, Credential::from_json(&key).unwrap());
    }

    /// The result of a linear search.
    fn expect_as_searched(credentials: &Credentials) {
        for asked in [vec![0], vec![1], vec![2, 0], vec![0, 0], vec![7], vec![]] {
            let names: Vec<ProviderId> = asked.iter().map(|number| provider(*number)).collect();
            let names: Vec<&ProviderId> = names.iter().collect();
            let searched: Vec<_> = credentials
                .iter()
                .filter(|(_, credential)| names.contains(&credential.provider()))
                .collect();
            assert_eq!(credentials.of(&names), searched, "{asked:?}");
        }
    }

    #[test]
    fn those_of_a_provider_are_what_a_search_finds_at_any_number_and_after_any_change() {
        let mut credentials = Credentials::default();
        for number in 0..3 * FEW {
            put(&mut credentials, number, number * 5 % 3);
            expect_as_searched(&credentials);
        }
        let before = credentials.clone();
        credentials.swap_remove_index(1);
        expect_as_searched(&credentials);
        expect_as_searched(&before);
        put(&mut credentials, 7, 2);
        expect_as_searched(&credentials);
        credentials.truncate(FEW);
        expect_as_searched(&credentials);
    }

    #[test]
    fn a_copy_that_changes_before_the_first_query_has_its_own_index() {
        let mut credentials = Credentials::default();
        for number in 0..3 * FEW {
            put(&mut credentials, number, number % 3);
        }
        let mut copy = credentials.clone();
        copy.swap_remove_index(0);
        expect_as_searched(&credentials);
        expect_as_searched(&copy);
    }
}
