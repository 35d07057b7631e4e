//! `state_json`: explicit orders, last good profiles and OpenClaw's usage statistics (auth-store.md 3.2).

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use openclaw_cooldown::UsageStats;
use openclaw_ids::{ProfileId, ProviderId};
use serde_json::{Map, Value};

use super::{parse_object, versioned};

const ORDER: &str = "order";
const LAST_GOOD: &str = "lastGood";
const USAGE: &str = "usageStats";

/// Normalises a key.
type NormaliseKey = fn(&str) -> String;

/// The members, and how their keys are normalised.
const MEMBERS: &[(&str, NormaliseKey)] = &[
    (ORDER, provider_key),
    (LAST_GOOD, provider_key),
    (USAGE, profile_key),
];

fn provider_key(key: &str) -> String {
    key.trim().to_lowercase()
}

fn profile_key(key: &str) -> String {
    key.trim().to_owned()
}

/// The state row as it was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct StateDocument {
    members: Map<String, Value>,
}

impl StateDocument {
    /// The names of the known members.
    pub(crate) fn members() -> impl Iterator<Item = &'static str> {
        MEMBERS.iter().map(|(member, _)| *member)
    }

    /// Wraps a parsed object.
    pub(crate) fn new(members: Map<String, Value>) -> Self {
        Self { members }
    }

    /// Reads the row's text.
    ///
    /// # Errors
    /// What is wrong with it, without its content.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        parse_object(text).map(Self::new)
    }

    /// Adds the state that an older format kept beside the secrets, for keys that this one lacks (J5).
    pub(crate) fn add_beneath(&mut self, older: &Map<String, Value>) {
        for (member, normal) in MEMBERS {
            let Some(Value::Object(rows)) = older.get(*member) else {
                continue;
            };
            let known = self.rows_mut(member);
            let taken: HashSet<String> = known.keys().map(|key| normal(key)).collect();
            for (key, row) in rows {
                if !taken.contains(&normal(key)) {
                    known.insert(key.clone(), row.clone());
                }
            }
            self.drop_if_empty(member);
        }
    }

    /// The explicit orders; blank ids and empty lists are dropped, the last of equal keys counts.
    pub(crate) fn order(&self) -> IndexMap<ProviderId, Vec<ProfileId>> {
        let lists = self.rows(ORDER).filter_map(|(key, list)| {
            let ids = list.as_array()?.iter().filter_map(Value::as_str);
            let ids: Vec<_> = ids.filter_map(|id| ProfileId::try_new(id).ok()).collect();
            Some((ProviderId::try_new(key).ok()?, ids)).filter(|(_, ids)| !ids.is_empty())
        });
        lists.collect()
    }

    /// Sets one order, or ends it.
    pub(crate) fn set_order(&mut self, provider: &ProviderId, ids: Option<&[ProfileId]>) {
        let list = ids.map(|ids| ids.iter().map(|id| Value::from(id.as_str())).collect());
        self.set(ORDER, provider.as_str(), list, provider_key);
    }

    /// The profiles that last worked.
    pub(crate) fn last_good(&self) -> IndexMap<ProviderId, ProfileId> {
        let rows = self.rows(LAST_GOOD);
        rows.filter_map(|(key, id)| {
            Some((
                ProviderId::try_new(key).ok()?,
                ProfileId::try_new(id.as_str()?).ok()?,
            ))
        })
        .collect()
    }

    /// Sets the last good profile, or removes it.
    pub(crate) fn set_last_good(&mut self, provider: &ProviderId, id: Option<&ProfileId>) {
        let id = id.map(|id| Value::from(id.as_str()));
        self.set(LAST_GOOD, provider.as_str(), id, provider_key);
    }

    /// Whether that profile is recorded as the last good one.
    pub(crate) fn is_last_good(&self, provider: &ProviderId, id: &ProfileId) -> bool {
        let rows = self.members.get(LAST_GOOD).and_then(Value::as_object);
        rows.and_then(|rows| rows.get(provider.as_str())?.as_str()) == Some(id.as_str())
    }

    /// OpenClaw's usage entries, by profile.
    pub(crate) fn usage_entries(&self) -> impl Iterator<Item = (ProfileId, &Value)> {
        self.rows(USAGE)
            .filter_map(|(key, entry)| Some((ProfileId::try_new(key).ok()?, entry)))
    }

    /// The same, typed; invalid entries are left out, and of several for one profile the first counts.
    pub(crate) fn usage_stats(&self) -> HashMap<ProfileId, UsageStats> {
        let mut stats = HashMap::new();
        for (id, entry) in self.usage_entries() {
            if let Ok(entry) = serde_json::from_value(entry.clone()) {
                stats.entry(id).or_insert(entry);
            }
        }
        stats
    }

    /// Adds entries of `other` for providers and profiles that this one lacks (G27).
    pub(crate) fn fill_from(&mut self, other: &Self) {
        self.add_beneath(&other.members);
    }

    /// Sets OpenClaw's usage entry of one profile, or removes it.
    pub(crate) fn set_usage(&mut self, id: &ProfileId, stats: Option<Value>) {
        self.set(USAGE, id.as_str(), stats, profile_key);
    }

    /// Whether there is no order, no last good profile and no usage.
    pub(crate) fn says_nothing(&self) -> bool {
        MEMBERS
            .iter()
            .all(|(member, _)| self.rows(member).next().is_none())
    }

    /// Whether it holds nothing but usage of the profiles under `keys`.
    pub(crate) fn is_only_about(&self, keys: &Map<String, Value>) -> bool {
        MEMBERS.iter().all(|(member, _)| {
            self.rows(member)
                .all(|(key, _)| *member == USAGE && keys.contains_key(key.trim()))
        })
    }

    /// Whether nothing is left to store (D12).
    pub(crate) fn is_empty(&self) -> bool {
        self.members.keys().all(|name| name == "version")
    }

    /// The text to store.
    pub(crate) fn to_json(&self) -> String {
        versioned(&self.members)
    }

    fn rows(&self, member: &str) -> impl Iterator<Item = (&String, &Value)> {
        self.members
            .get(member)
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
    }

    fn set(&mut self, member: &str, key: &str, row: Option<Value>, normal: NormaliseKey) {
        let rows = self.rows_mut(member);
        match row {
            Some(row) => {
                rows.retain(|known, _| known == key || normal(known) != key);
                rows.insert(key.to_owned(), row);
            }
            None => rows.retain(|known, _| normal(known) != key),
        }
        self.drop_if_empty(member);
    }

    fn drop_if_empty(&mut self, member: &str) {
        if self.rows(member).next().is_none() {
            self.members.shift_remove(member);
        }
    }

    /// One member as an object; a value of another type is replaced.
    fn rows_mut(&mut self, member: &str) -> &mut Map<String, Value> {
        let value = self.members.entry(member.to_owned()).or_insert(Value::Null);
        if !value.is_object() {
            *value = Value::Object(Map::new());
        }
        #[expect(clippy::expect_used, reason = "the line above made it one")]
        value.as_object_mut().expect("an object")
    }
}
