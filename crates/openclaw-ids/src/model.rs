//! Model ids and model references: parsing, dropping of a repeated provider, display key (chain.md 3.2, 3.3, 4 steps
//! 1 and 2).

use crate::text_id::text_id;
use crate::{IdError, ProviderId};

text_id! {
    /// The id of a model at its provider. Trimmed; case is kept and significant (chain.md 3.2).
    ModelId, "model", |text| text.trim().into()
}

/// A provider and one of its models, the element of a candidate chain.
///
/// Two references are equal, and the same candidate, when their [`key`](ModelRef::key)s are equal.
#[derive(Clone, Debug)]
pub struct ModelRef {
    provider: ProviderId,
    model: ModelId,
}

impl ModelRef {
    /// Joins a provider and a model, and drops one leading `<provider>/` from the model (chain.md 4 step 2:
    /// `openai/openai/gpt` is `openai/gpt`).
    ///
    /// ```
    /// # use openclaw_ids::{ModelId, ModelRef, ProviderId};
    /// let model = ModelRef::new(ProviderId::try_new("openai")?, ModelId::try_new("OpenAI/gpt")?);
    /// assert_eq!(model.model().as_str(), "gpt");
    /// # Ok::<(), openclaw_ids::IdError>(())
    /// ```
    pub fn new(provider: ProviderId, model: ModelId) -> Self {
        let model = split_self_prefix(provider.as_str(), model.as_str())
            .and_then(|(_, rest)| ModelId::try_new(rest).ok())
            .unwrap_or(model);
        Self { provider, model }
    }

    /// Joins a provider and a model exactly as given, for ids whose own name starts with the provider
    /// (`openrouter` and `openrouter/auto`).
    pub fn verbatim(provider: ProviderId, model: ModelId) -> Self {
        Self { provider, model }
    }

    /// Splits `text` at the first `/` (chain.md 3.2); text without one belongs to `default_provider`.
    ///
    /// # Errors
    /// [`IdError::NotAReference`] when the provider or the model is blank.
    pub fn parse_with_default(text: &str, default_provider: &ProviderId) -> Result<Self, IdError> {
        if text.contains('/') {
            return text.parse();
        }
        ModelId::try_new(text)
            .map(|model| Self::new(default_provider.clone(), model))
            .map_err(|_| not_a_reference(text))
    }

    /// The provider.
    pub fn provider(&self) -> &ProviderId {
        &self.provider
    }

    /// The model id, without the provider.
    pub fn model(&self) -> &ModelId {
        &self.model
    }

    /// The display form and identity, `provider/model`; the provider is not repeated before a model that starts with it
    /// (chain.md 3.3).
    pub fn key(&self) -> String {
        let (provider, model) = self.parts();
        [provider, "/", model].concat()
    }

    /// The key split at one of its slashes: the provider as the key spells it, and the rest.
    fn parts(&self) -> (&str, &str) {
        let (provider, model) = (self.provider.as_str(), self.model.as_str());
        // The key has the model's spelling of the provider.
        split_self_prefix(provider, model).unwrap_or((provider, model))
    }

    /// The key before its first slash and after its last one, and its length: the same for equal keys, at whichever
    /// slash the provider ends.
    fn ends(&self) -> (&str, &str, usize) {
        let (provider, rest) = self.parts();
        let first = provider.split_once('/').map_or(provider, |(first, _)| first);
        let last = rest.rsplit_once('/').map_or(rest, |(_, last)| last);
        (first, last, provider.len() + rest.len())
    }
}

/// Splits a model id after a leading `<provider>/`, in any case.
fn split_self_prefix<'m>(provider: &str, model: &'m str) -> Option<(&'m str, &'m str)> {
    if !model.as_bytes().contains(&b'/') {
        return None;
    }
    if model.is_ascii() {
        // In ASCII a provider in another case has the same length.
        let (head, rest) = model.split_at_checked(provider.len())?;
        let rest = rest.strip_prefix('/')?;
        return head.eq_ignore_ascii_case(provider).then_some((head, rest));
    }
    let is_provider = |head: &str| {
        head.eq_ignore_ascii_case(provider) || (!head.is_ascii() && head.to_lowercase() == provider)
    };
    let mut slashes = model.match_indices('/').map(|(at, _)| at);
    let at = slashes.find(|at| is_provider(&model[..*at]))?;
    Some((&model[..at], &model[at + 1..]))
}

impl std::fmt::Display for ModelRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (provider, model) = self.parts();
        write!(f, "{provider}/{model}")
    }
}

impl std::str::FromStr for ModelRef {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (provider, model) = text.split_once('/').ok_or_else(|| not_a_reference(text))?;
        match (ProviderId::try_new(provider), ModelId::try_new(model)) {
            (Ok(provider), Ok(model)) => Ok(Self::new(provider, model)),
            _ => Err(not_a_reference(text)),
        }
    }
}

fn not_a_reference(text: &str) -> IdError {
    IdError::NotAReference {
        text: text.trim().to_owned(),
    }
}

impl PartialEq for ModelRef {
    fn eq(&self, other: &Self) -> bool {
        let (mine, theirs) = (self.parts(), other.parts());
        if mine.0.len() == theirs.0.len() {
            return mine == theirs;
        }
        self.ends() == other.ends() && self.key() == other.key()
    }
}

impl Eq for ModelRef {}

impl std::hash::Hash for ModelRef {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.ends().hash(state);
    }
}

impl serde::Serialize for ModelRef {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for ModelRef {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <std::borrow::Cow<'de, str>>::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn openai() -> ProviderId {
        ProviderId::try_new("openai").unwrap()
    }

    #[test]
    fn splitting_rows_of_3_2() {
        for (text, expected) in [
            ("anthropic/claude", Some(("anthropic", "claude"))),
            ("  OpenAI / GPT-5 ", Some(("openai", "GPT-5"))),
            ("a/b/c", Some(("a", "b/c"))),
            ("a//b", Some(("a", "/b"))),
            ("x", Some(("openai", "x"))),
            ("/x", None),
            ("x/", None),
            ("", None),
        ] {
            let parsed = ModelRef::parse_with_default(text, &openai()).ok();
            let pair = parsed
                .as_ref()
                .map(|r| (r.provider().as_str(), r.model().as_str()));
            assert_eq!(pair, expected, "{text:?}");
        }
    }

    #[test]
    fn keys_of_3_3() {
        for (provider, model, key) in [
            ("openai", "gpt", "openai/gpt"),
            ("openrouter", "openrouter/auto", "openrouter/auto"),
            ("Openai", "OPENAI/gpt", "OPENAI/gpt"),
        ] {
            let verbatim = ModelRef::verbatim(
                ProviderId::try_new(provider).unwrap(),
                ModelId::try_new(model).unwrap(),
            );
            assert_eq!(verbatim.key(), key);
        }
    }

    #[test]
    fn equal_keys_are_equal_references() {
        let auto = |model: &str| {
            ModelRef::verbatim(
                ProviderId::try_new("openrouter").unwrap(),
                ModelId::try_new(model).unwrap(),
            )
        };
        assert_eq!(auto("openrouter/auto"), auto("auto"));
        assert_eq!(auto("openrouter/auto").key(), auto("auto").key());
        let split_late = ModelRef::verbatim(
            ProviderId::try_new("a/b").unwrap(),
            ModelId::try_new("c").unwrap(),
        );
        assert_eq!(split_late, "a/b/c".parse().unwrap());
        // The spelling inside the model id is kept, so these are two keys.
        assert_ne!(auto("OpenRouter/auto"), auto("auto"));
    }

    #[test]
    fn self_prefix_is_dropped_once() {
        for (text, model) in [
            ("openai/openai/openai/gpt", "openai/gpt"),
            ("öl/ÖL/x", "x"), // case is ignored outside ASCII too
            ("openai/openai/", "openai/"),
        ] {
            let doubled: ModelRef = text.parse().unwrap();
            assert_eq!(doubled.model().as_str(), model, "{text}");
        }
    }

    #[test]
    fn a_bare_name_is_no_reference_and_the_error_says_how_to_write_one() {
        let error = "gpt".parse::<ModelRef>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "`gpt` is not a model reference; write it as `provider/model`"
        );
    }

    proptest! {
        /// The provider may contain a slash, so two splits of one key are the same reference.
        #[test]
        fn references_are_equal_exactly_when_their_keys_are(pairs in prop::collection::vec(("[aAé/]{1,4}", "[aAé/]{1,6}"), 2)) {
            use std::hash::{BuildHasher, RandomState};
            let refs: Vec<ModelRef> = pairs
                .iter()
                .map(|(p, m)| ModelRef::verbatim(ProviderId::try_new(p).unwrap(), ModelId::try_new(m).unwrap()))
                .collect();
            prop_assert_eq!(refs[0] == refs[1], refs[0].key() == refs[1].key());
            let state = RandomState::new();
            prop_assert!(refs[0] != refs[1] || state.hash_one(&refs[0]) == state.hash_one(&refs[1]));
        }

        #[test]
        fn the_key_of_a_parsed_reference_is_stable(provider in "[a-z]{1,6}", model in "[A-Za-z0-9./-]{1,12}") {
            if let Ok(first) = format!("{provider}/{model}").parse::<ModelRef>() {
                let key = first.key();
                if let Ok(reparsed) = key.parse::<ModelRef>() {
                    prop_assert_eq!(reparsed, first);
                }
            }
        }

        #[test]
        fn any_text_is_a_reference_or_an_error(text in ".{0,40}") {
            let _ = text.parse::<ModelRef>();
        }
    }
}
