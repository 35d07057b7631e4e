//! Import of the JSON files of older versions (auth-store.md 9.1, 9.4).

mod files;
mod formats;

use indexmap::IndexMap;
use openclaw_ids::ProfileId;
use serde_json::{Map, Value};

use crate::Credential;
use crate::snapshot::payload::{StateDocument, parse_object};

pub(crate) use files::{FILES, failed, read_text, set_aside};
pub use files::{ImportError, ImportReport, LegacyFolder};
pub(crate) use formats::awaits_sidecar;

/// The texts of an agent folder's older files.
#[derive(Default, Clone, Copy)]
pub struct LegacyTexts<'a> {
    /// `auth-profiles.json`: profiles, with or without state beside them, or providers with one credential each.
    pub profiles: Option<&'a str>,
    /// `auth-state.json`: orders, last good profiles and usage.
    pub state: Option<&'a str>,
    /// `auth.json`: providers with one credential each.
    pub auth: Option<&'a str>,
}

/// The content of older files, the strongest source first where they disagree (G26, G27).
#[derive(Clone, Default)]
pub struct LegacyProfiles {
    pub(crate) profiles: IndexMap<ProfileId, Credential>,
    pub(crate) state: StateDocument,
    /// Logins whose tokens are in a further file; they stay where OpenClaw looks for them (G34).
    pub(crate) held_back: Map<String, Value>,
    unreadable: Vec<LegacyFile>,
    /// Whether a stored entry without a secret is replaced (G25, G26).
    pub(crate) fills_blanks: bool,
}

/// One of the older files of an agent folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LegacyFile {
    /// `auth.json`.
    Auth,
    /// `auth-profiles.json`.
    Profiles,
    /// `auth-state.json`.
    State,
}

impl LegacyFile {
    /// The file's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auth => "auth.json",
            Self::Profiles => "auth-profiles.json",
            Self::State => "auth-state.json",
        }
    }
}

impl LegacyProfiles {
    /// Reads the texts; one that is not a JSON object is recorded as unreadable and counts as absent.
    pub fn read(texts: LegacyTexts<'_>) -> Self {
        let mut legacy = Self::default();
        let mut object = |file: LegacyFile, text: Option<&str>| {
            let members = parse_object(text?).ok();
            if members.is_none() {
                legacy.unreadable.push(file);
            }
            members
        };
        let profiles = object(LegacyFile::Profiles, texts.profiles);
        let state = object(LegacyFile::State, texts.state);
        let auth = object(LegacyFile::Auth, texts.auth);
        legacy.state = StateDocument::new(state.unwrap_or_default());
        if let Some(members) = profiles {
            match members.get("profiles") {
                Some(Value::Object(entries)) => legacy.add_canonical(entries.clone(), &members),
                Some(_) | None => legacy.add(formats::flat(&members)),
            }
        }
        if let Some(members) = auth.filter(|members| !members.contains_key("profiles")) {
            legacy.add(formats::auth(&members));
        }
        legacy
    }

    /// Reads the shared `oauth.json` of the first versions: one login per provider (G3).
    ///
    /// Keys are normalised and every entry is a login, whatever it says itself; what is no object is left out, and so
    /// is everything when the text is no JSON object (G5).
    pub fn oauth(text: &str) -> Self {
        let mut legacy = Self::default();
        if let Ok(members) = parse_object(text) {
            legacy.add(formats::oauth(&members));
        }
        legacy
    }

    /// The profiles.
    pub fn profiles(&self) -> &IndexMap<ProfileId, Credential> {
        &self.profiles
    }

    /// Existing files that cannot be read; they are never removed.
    pub fn unreadable(&self) -> &[LegacyFile] {
        &self.unreadable
    }

    /// Keys of logins whose tokens are in a further file (G34).
    pub fn held_back(&self) -> impl Iterator<Item = &String> {
        self.held_back.keys()
    }

    /// Whether there is nothing to import.
    pub fn is_empty(&self) -> bool {
        self.profiles.is_empty() && (self.state.says_nothing() || self.state.is_only_about(&self.held_back))
    }

    /// `{version, profiles, order?, lastGood?, usageStats?}` (G21).
    fn add_canonical(&mut self, entries: Map<String, Value>, members: &Map<String, Value>) {
        for (key, mut entry) in entries {
            if formats::awaits_sidecar(&entry) {
                self.held_back.insert(key, entry);
                continue;
            }
            formats::adopt_key_alias(&mut entry);
            if let (Ok(id), Ok(credential)) = (ProfileId::try_new(&key), Credential::from_json(&entry)) {
                self.profiles.entry(id).or_insert(credential);
            }
        }
        self.state.add_beneath(members);
    }

    fn add(&mut self, profiles: impl IntoIterator<Item = (ProfileId, Credential)>) {
        for (id, credential) in profiles {
            self.profiles.entry(id).or_insert(credential);
        }
    }
}

#[cfg(test)]
mod tests;
