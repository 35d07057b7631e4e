//! Model id shorthands and renames of single vendors (chain.md 4, steps 3 and 4): data that ages, so it can be
//! replaced or switched off.

use std::borrow::Cow;
use std::collections::HashMap;

use openclaw_ids::{ModelId, ModelRef, ProviderId, lowercased};
use openclaw_providers::{MODEL_RENAMES, ModelRenames};

/// What one provider's model ids become; the steps run in the order of the fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderRules {
    /// A prefix that is dropped once, compared without case.
    pub strip_prefix: Option<String>,
    /// New names by lowercased old name.
    pub renames: HashMap<String, String>,
    /// New names by exactly spelled old name.
    pub exact_renames: HashMap<String, String>,
    /// A prefix behind which the renames hold too, such as `google/`; it stays in place.
    pub nested_prefix: Option<String>,
    /// What an id without `/` gets in front.
    pub bare_prefix: Option<BarePrefix>,
}

/// A prefix for ids without `/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BarePrefix {
    /// Only ids that start like this, compared without case, get the prefix; empty means all.
    pub only: String,
    /// The prefix, with its slash.
    pub prefix: String,
}

/// The rules of all vendors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VendorRules {
    providers: HashMap<ProviderId, ProviderRules>,
}

impl VendorRules {
    /// No rules: model ids stay as written.
    pub fn none() -> Self {
        Self {
            providers: HashMap::new(),
        }
    }

    /// Sets the rules of one provider in place of those it had.
    #[must_use]
    pub fn with_provider(mut self, provider: ProviderId, rules: ProviderRules) -> Self {
        self.providers.insert(provider, rules);
        self
    }

    /// A provider and a model id in their normal form (chain.md 4): one leading `<provider>/` dropped, then the
    /// provider's rules.
    pub fn normalise(&self, provider: &ProviderId, model: &ModelId) -> ModelRef {
        let without_self = ModelRef::new(provider.clone(), model.clone());
        let renamed = self.rename(provider, without_self.model());
        ModelRef::verbatim(provider.clone(), renamed)
    }

    /// The provider's rules alone, without dropping a leading `<provider>/`.
    pub(crate) fn rename(&self, provider: &ProviderId, model: &ModelId) -> ModelId {
        match self.providers.get(provider) {
            Some(rules) => rules.apply(model),
            None => model.clone(),
        }
    }

    /// The rename of a Google model that a configured relay serves as `google/<id>`, by Google's own rules.
    pub(crate) fn rename_relayed(&self, model: &ModelId) -> Option<ModelId> {
        let google = self.providers.get("google")?;
        let renamed = google.nested(model.as_str())?;
        ModelId::try_new(&renamed).ok()
    }
}

impl Default for VendorRules {
    fn default() -> Self {
        let providers = MODEL_RENAMES
            .iter()
            .flat_map(|row| row.providers.iter().map(move |provider| (*provider, row)))
            .filter_map(|(provider, row)| {
                Some((ProviderId::try_new(provider).ok()?, ProviderRules::from(row)))
            })
            .collect();
        Self { providers }
    }
}

impl From<&ModelRenames> for ProviderRules {
    fn from(row: &ModelRenames) -> Self {
        let table = |pairs: &[(&str, &str)]| {
            pairs
                .iter()
                .map(|(from, to)| ((*from).to_owned(), (*to).to_owned()))
                .collect()
        };
        Self {
            strip_prefix: row.strip_prefix.map(str::to_owned),
            renames: table(row.renames),
            exact_renames: table(row.exact_renames),
            nested_prefix: row.nested_prefix.map(str::to_owned),
            bare_prefix: row.bare_prefix.map(|(only, prefix)| BarePrefix {
                only: only.to_owned(),
                prefix: prefix.to_owned(),
            }),
        }
    }
}

impl ProviderRules {
    fn apply(&self, model: &ModelId) -> ModelId {
        let mut id = model.as_str();
        if let Some(prefix) = &self.strip_prefix {
            id = strip_prefix_ignoring_case(id, prefix)
                .filter(|rest| !rest.is_empty())
                .unwrap_or(id);
        }
        let renamed = match self.renamed(id) {
            Some(renamed) => Cow::Borrowed(renamed),
            None => self.nested(id).map_or(Cow::Borrowed(id), Cow::Owned),
        };
        let whole = match &self.bare_prefix {
            Some(bare) if !renamed.contains('/') && starts_ignoring_case(&renamed, &bare.only) => {
                Cow::Owned([&bare.prefix, &*renamed].concat())
            }
            _ => renamed,
        };
        if whole == model.as_str() {
            return model.clone();
        }
        // A rule that would leave nothing changes nothing.
        ModelId::try_new(&whole).unwrap_or_else(|_| model.clone())
    }

    fn renamed(&self, id: &str) -> Option<&str> {
        let exact = self.exact_renames.get(id);
        exact
            .or_else(|| self.renames.get(&*lowercased(id)))
            .map(String::as_str)
    }

    fn nested(&self, id: &str) -> Option<String> {
        let prefix = self.nested_prefix.as_deref()?;
        let rest = strip_prefix_ignoring_case(id, prefix)?;
        Some(format!("{prefix}{}", self.renamed(rest)?))
    }
}

fn strip_prefix_ignoring_case<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    starts_ignoring_case(text, prefix).then(|| &text[prefix.len()..])
}

fn starts_ignoring_case(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(prefix))
}

#[cfg(test)]
mod tests;
