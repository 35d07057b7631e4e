//! Credentials by the id of their profile, and quickly those of one provider.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use indexmap::{IndexMap, map};
use openclaw_ids::{ProfileId, ProviderId};

use crate::Credential;

/// Up to so many are looked through faster than sorted.
const FEW: usize = 16;

/// Credentials in stored order; read and changed like the map that it is.
///
/// Copies share the map until one of them changes: a use of one profile makes a new view of all. Asking for those of a
/// provider does not look through all of them: a run over a thousand providers asks a thousand times.
#[derive(Debug, Clone, Default)]
pub struct Credentials {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    by_id: IndexMap<ProfileId, Credential>,
    /// The places in the map, by provider and then in stored order; whoever asks first sorts.
    by_provider: OnceLock<Vec<usize>>,
}

impl Clone for Shared {
    /// For a change, after which the places may be others.
    fn clone(&self) -> Self {
        Self {
            by_id: self.by_id.clone(),
            by_provider: OnceLock::new(),
        }
    }
}

impl Shared {
    fn places(&self) -> &[usize] {
        self.by_provider.get_or_init(|| {
            let mut places: Vec<usize> = (0..self.by_id.len()).collect();
            places.sort_by_key(|place| self.by_id[*place].provider());
            places
        })
    }
}

impl Credentials {
    /// Those of any of `providers`, in stored order.
    pub fn of<'a>(&'a self, providers: &[&ProviderId]) -> Vec<(&'a ProfileId, &'a Credential)> {
        let by_id = &self.shared.by_id;
        if by_id.len() <= FEW {
            return by_id
                .iter()
                .filter(|(_, credential)| providers.contains(&credential.provider()))
                .collect();
        }
        let sorted = self.shared.places();
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

impl PartialEq for Credentials {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared) || self.shared.by_id == other.shared.by_id
    }
}

impl Eq for Credentials {}

impl Deref for Credentials {
    type Target = IndexMap<ProfileId, Credential>;

    fn deref(&self) -> &Self::Target {
        &self.shared.by_id
    }
}

impl DerefMut for Credentials {
    fn deref_mut(&mut self) -> &mut Self::Target {
        let shared = Arc::make_mut(&mut self.shared);
        shared.by_provider.take();
        &mut shared.by_id
    }
}

impl From<IndexMap<ProfileId, Credential>> for Credentials {
    fn from(by_id: IndexMap<ProfileId, Credential>) -> Self {
        let shared = Shared {
            by_id,
            by_provider: OnceLock::new(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }
}

impl FromIterator<(ProfileId, Credential)> for Credentials {
    fn from_iter<I: IntoIterator<Item = (ProfileId, Credential)>>(credentials: I) -> Self {
        Self::from(IndexMap::from_iter(credentials))
    }
}

impl IntoIterator for Credentials {
    type Item = (ProfileId, Credential);
    type IntoIter = map::IntoIter<ProfileId, Credential>;

    fn into_iter(self) -> Self::IntoIter {
        let shared = Arc::try_unwrap(self.shared).unwrap_or_else(|shared| (*shared).clone());
        shared.by_id.into_iter()
    }
}

impl<'a> IntoIterator for &'a Credentials {
    type Item = (&'a ProfileId, &'a Credential);
    type IntoIter = map::Iter<'a, ProfileId, Credential>;

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

    /// What looking through all of them finds.
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
    fn a_copy_that_changes_before_anybody_asked_sorts_for_itself() {
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
