//! Renames profiles of `openai-codex`, which is the provider `openai` (9.6).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::import::awaits_sidecar;

const LEGACY: &str = "openai-codex";
const LEGACY_PREFIX: &str = "openai-codex:";
const MODERN: &str = "openai";

/// The new id of each profile; the same for every agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CodexRenames(BTreeMap<String, String>);

/// Gives every older profile of all documents and of the configuration a new id: `openai:<name>` where that is free,
/// else `openai:chatgpt-<name>`, else that with a number.
///
/// Documents are the contents of `auth-profiles.json`.
pub(super) fn codex_renames(documents: &[Value], config: &Value) -> CodexRenames {
    let configured = config.pointer("/auth/profiles");
    let maps = documents.iter().map(|document| document.get("profiles"));
    let entries = maps
        .chain([configured])
        .filter_map(|profiles| profiles?.as_object())
        .flatten();
    let (mut legacy, mut taken) = (BTreeSet::new(), BTreeSet::new());
    for (id, entry) in entries {
        if is_legacy(id, entry) {
            legacy.insert(id.clone());
        } else {
            taken.insert(id.clone());
        }
    }
    let mut renames = BTreeMap::new();
    for id in legacy {
        let name = id.split_once(':').map_or(id.as_str(), |(_, name)| name).trim();
        let name = if name.is_empty() { "default" } else { name };
        let second = format!("{MODERN}:chatgpt-{name}");
        let numbered = (2_u64..).map(|number| format!("{second}-{number}"));
        let mut names = [format!("{MODERN}:{name}"), second.clone()]
            .into_iter()
            .chain(numbered);
        if let Some(new) = names.find(|new| !taken.contains(new)) {
            taken.insert(new.clone());
            renames.insert(id, new);
        }
    }
    CodexRenames(renames)
}

impl CodexRenames {
    /// Older ids with their new ones.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(old, new)| (old.as_str(), new.as_str()))
    }

    /// Renames in a document of profiles and state; true when something changed.
    pub(super) fn apply_to_document(&self, document: &mut Value) -> bool {
        let before = document.clone();
        self.rename_profiles(document);
        self.merge_order(document);
        if let Some(usage) = document.get_mut("usageStats").and_then(Value::as_object_mut) {
            self.rename_keys(usage);
        }
        if let Some(good) = document.get_mut("lastGood").and_then(Value::as_object_mut) {
            if let Some(id) = take(good, LEGACY) {
                good.entry(MODERN).or_insert(id);
            }
            good.values_mut().for_each(|id| self.rename_text(id));
        }
        *document != before
    }

    /// Renames in the configuration: profiles, orders, and every `authProfileId`; true when something changed.
    pub(super) fn apply_to_config(&self, config: &mut Value) -> bool {
        let before = config.clone();
        if let Some(auth) = config.get_mut("auth") {
            self.rename_profiles(auth);
            self.merge_order(auth);
        }
        self.rename_references(config);
        *config != before
    }

    fn rename_profiles(&self, holder: &mut Value) {
        let Some(profiles) = holder.get_mut("profiles").and_then(Value::as_object_mut) else {
            return;
        };
        for (id, entry) in profiles.iter_mut() {
            if is_legacy(id, entry) && entry.is_object() {
                entry["provider"] = MODERN.into();
            }
        }
        self.rename_keys(profiles);
    }

    /// The older list comes before the other one; each id counts once.
    fn merge_order(&self, holder: &mut Value) {
        let Some(order) = holder.get_mut("order").and_then(Value::as_object_mut) else {
            return;
        };
        let legacy = take(order, LEGACY);
        let mut merged: Vec<Value> = Vec::new();
        let modern = order.get(MODERN).cloned();
        for list in [&legacy, &modern].into_iter().flatten() {
            for id in list.as_array().into_iter().flatten() {
                let mut id = id.clone();
                self.rename_text(&mut id);
                if !merged.contains(&id) {
                    merged.push(id);
                }
            }
        }
        if !merged.is_empty() {
            order.insert(MODERN.to_owned(), Value::Array(merged));
        }
    }

    fn rename_keys(&self, rows: &mut Map<String, Value>) {
        let old = std::mem::take(rows);
        let new = old
            .into_iter()
            .map(|(id, row)| (self.0.get(&id).cloned().unwrap_or(id), row));
        rows.extend(new);
    }

    fn rename_text(&self, id: &mut Value) {
        if let Some(new) = id.as_str().and_then(|id| self.0.get(id)) {
            *id = new.as_str().into();
        }
    }

    fn rename_references(&self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.rename_references(item)),
            Value::Object(members) => {
                for (name, member) in members {
                    if name == "authProfileId" {
                        self.rename_text(member);
                    }
                    self.rename_references(member);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

/// A login that still needs its tokens from another file keeps its id, with which they are encrypted (9.7).
fn is_legacy(id: &str, entry: &Value) -> bool {
    if awaits_sidecar(entry) {
        return false;
    }
    let provider = entry.get("provider").and_then(Value::as_str).unwrap_or_default();
    let prefix = id.get(..LEGACY_PREFIX.len()).unwrap_or_default();
    prefix.eq_ignore_ascii_case(LEGACY_PREFIX) || provider.trim().eq_ignore_ascii_case(LEGACY)
}

/// Takes out the row of a provider, however its name is written.
fn take(rows: &mut Map<String, Value>, provider: &str) -> Option<Value> {
    let key = rows
        .keys()
        .find(|key| key.trim().eq_ignore_ascii_case(provider))?
        .clone();
    rows.shift_remove(&key)
}
