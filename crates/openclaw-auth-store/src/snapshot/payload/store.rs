//! `store_json`: the credentials (auth-store.md 3.1).

use indexmap::IndexMap;
use openclaw_ids::ProfileId;
use serde_json::{Map, Value};

use super::{StateDocument, parse_object, versioned};
use crate::Credential;
use crate::credential::Rejection;

/// How many rejected keys a warning names (J3).
const NAMED_REJECTIONS: usize = 10;

/// The secrets row as it was read.
#[derive(Clone, PartialEq)]
pub(crate) struct StoreDocument {
    members: Map<String, Value>,
}

/// The typed content of a document.
pub(crate) struct Profiles {
    /// The credentials in stored order.
    pub(crate) credentials: IndexMap<ProfileId, Credential>,
    /// Keys of entries that are no credentials, and why.
    pub(crate) rejected: Vec<(String, Rejection)>,
}

impl StoreDocument {
    /// A store without profiles.
    pub(crate) fn empty() -> Self {
        let profiles = ("profiles".to_owned(), Value::Object(Map::new()));
        Self {
            members: Map::from_iter([profiles]),
        }
    }

    /// Reads the row's text (J1).
    ///
    /// # Errors
    /// What is wrong with it, without its content.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let members = parse_object(text)?;
        match members.get("profiles") {
            Some(Value::Object(_)) => Ok(Self { members }),
            Some(_) | None => Err("no object under `profiles`".to_owned()),
        }
    }

    /// The profiles; of several keys that name the same one the first counts.
    pub(crate) fn profiles(&self) -> Profiles {
        let mut credentials = IndexMap::new();
        let mut rejected = Vec::new();
        for (key, entry) in self.entries() {
            let Ok(id) = ProfileId::try_new(key) else {
                rejected.push((key.clone(), Rejection::NonObject));
                continue;
            };
            match Credential::from_json(entry) {
                Ok(credential) => {
                    credentials.entry(id).or_insert(credential);
                }
                Err(rejection) => rejected.push((key.clone(), rejection)),
            }
        }
        Profiles {
            credentials,
            rejected,
        }
    }

    /// Whether there is an entry, readable or not, under the id.
    pub(crate) fn holds(&self, id: &ProfileId) -> bool {
        self.entries().any(|(key, _)| key.trim() == id.as_str())
    }

    /// Stores a credential under its id.
    pub(crate) fn put(&mut self, id: &ProfileId, credential: &Credential) {
        let Some(entry) = credential.to_json() else {
            return;
        };
        let known = self.entries().find(|(key, _)| key.trim() == id.as_str());
        let key = known.map_or_else(|| id.as_str().to_owned(), |(key, _)| key.clone());
        if let Some(profiles) = self.profiles_mut() {
            profiles.insert(key, entry);
        }
    }

    /// Removes the entry under the id.
    pub(crate) fn remove(&mut self, id: &ProfileId) {
        if let Some(profiles) = self.profiles_mut() {
            profiles.retain(|key, _| key.trim() != id.as_str());
        }
    }

    /// Takes out the state that an older format kept here (J5).
    pub(crate) fn take_embedded_state(&mut self) -> Map<String, Value> {
        let mut state = Map::new();
        for name in StateDocument::members() {
            if self.members.get(name).is_some_and(Value::is_object)
                && let Some(rows) = self.members.shift_remove(name)
            {
                state.insert(name.to_owned(), rows);
            }
        }
        state
    }

    /// The text to store.
    pub(crate) fn to_json(&self) -> String {
        versioned(&self.members)
    }

    fn entries(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.members
            .get("profiles")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
    }

    fn profiles_mut(&mut self) -> Option<&mut Map<String, Value>> {
        self.members.get_mut("profiles").and_then(Value::as_object_mut)
    }
}

/// Logs which entries are no credentials (J3); keys are hashed, contents are left out.
pub(crate) fn warn_rejected(rejected: &[(String, Rejection)]) {
    if rejected.is_empty() {
        return;
    }
    let mut counts = std::collections::BTreeMap::<&str, usize>::new();
    for (_, rejection) in rejected {
        *counts.entry(rejection.as_str()).or_default() += 1;
    }
    let named = rejected.iter().take(NAMED_REJECTIONS);
    let ids: Vec<_> = named
        .map(|(key, _)| crate::log_id(ProfileId::try_new(key).ok().as_ref()))
        .collect();
    tracing::warn!(
        ?counts,
        ?ids,
        "some stored profiles cannot be read; they are left as they are"
    );
}
