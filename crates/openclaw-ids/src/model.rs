//! Model ids and references: splitting, self prefix, display key (chain.md 3.2, 3.3, 4 steps 1 and 2).

use crate::text_id::text_id;
use crate::{IdError, ProviderId};

text_id! {
    /// A provider's model id; trimmed, case kept and significant (chain.md 3.2).
    ModelId, "model", |text| text.trim().to_owned()
}

/// A provider and one of its models; the unit a candidate chain is made of.
///
/// Two references are the same candidate when their [`key`](ModelRef::key) is equal, which is what `==` compares.
#[derive(Clone, Debug)]
pub struct ModelRef {
    provider: ProviderId,
    model: ModelId,
}

impl ModelRef {
    /// Joins a provider and a model and drops one leading `<provider>/` from the model
    /// (chain.md 4 step 2: `openai/openai/gpt` is `openai/gpt`).
    ///
    /// ```
    /// # use openclaw_ids::{ModelId, ModelRef, ProviderId};
    /// let model = ModelRef::new(ProviderId::try_new("openai")?, ModelId::try_new("OpenAI/gpt")?);
    /// assert_eq!(model.model().as_str(), "gpt");
    /// # Ok::<(), openclaw_ids::IdError>(())
    /// ```
    pub fn new(provider: ProviderId, model: ModelId) -> Self {
        let model = strip_self_prefix(&provider, model.as_str())
            .and_then(|rest| ModelId::try_new(rest).ok())
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
    /// [`IdError::NotAReference`] when either half is blank.
    pub fn parse_with_default(text: &str, default_provider: &ProviderId) -> Result<Self, IdError> {
        let text = text.trim();
        match text.split_once('/') {
            Some((provider, model)) => match (ProviderId::try_new(provider), ModelId::try_new(model)) {
                (Ok(provider), Ok(model)) => Ok(Self::new(provider, model)),
                _ => Err(IdError::NotAReference {
                    text: text.to_owned(),
                }),
            },
            None => ModelId::try_new(text)
                .map(|model| Self::new(default_provider.clone(), model))
                .map_err(|_| IdError::NotAReference {
                    text: text.to_owned(),
                }),
        }
    }

    /// The provider.
    pub fn provider(&self) -> &ProviderId {
        &self.provider
    }

    /// The model id, without the provider.
    pub fn model(&self) -> &ModelId {
        &self.model
    }

    /// The display form and identity, `provider/model`; a model that already starts with `provider/`
    /// is not doubled (chain.md 3.3).
    pub fn key(&self) -> String {
        self.to_string()
    }

    /// The key before and after its first slash.
    fn parts(&self) -> (&str, &str) {
        let (provider, model) = (self.provider.as_str(), self.model.as_str());
        match strip_self_prefix(&self.provider, model) {
            // The model's own spelling of the provider is part of the key.
            Some(rest) => (&model[..provider.len()], rest),
            None => (provider, model),
        }
    }
}

fn strip_self_prefix<'m>(provider: &ProviderId, model: &'m str) -> Option<&'m str> {
    let provider = provider.as_str();
    let head = model.get(..provider.len())?;
    if !head.eq_ignore_ascii_case(provider) {
        return None;
    }
    model[provider.len()..].strip_prefix('/')
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
        let text = text.trim();
        let not_a_reference = || IdError::NotAReference {
            text: text.to_owned(),
        };
        let (provider, model) = text.split_once('/').ok_or_else(not_a_reference)?;
        match (ProviderId::try_new(provider), ModelId::try_new(model)) {
            (Ok(provider), Ok(model)) => Ok(Self::new(provider, model)),
            _ => Err(not_a_reference()),
        }
    }
}

impl PartialEq for ModelRef {
    fn eq(&self, other: &Self) -> bool {
        (self.provider == other.provider && self.model == other.model) || self.parts() == other.parts()
    }
}

impl Eq for ModelRef {}

impl std::hash::Hash for ModelRef {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.parts().hash(state);
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
        // The spelling inside the model id is kept, so these are two keys.
        assert_ne!(auto("OpenRouter/auto"), auto("auto"));
    }

    #[test]
    fn self_prefix_is_dropped_once() {
        let doubled: ModelRef = "openai/openai/openai/gpt".parse().unwrap();
        assert_eq!(doubled.model().as_str(), "openai/gpt");
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
        #[test]
        fn the_key_of_a_parsed_reference_is_stable(provider in "[a-z]{1,6}", model in "[A-Za-z0-9./-]{1,12}") {
            if let Ok(first) = format!("{provider}/{model}").parse::<ModelRef>() {
                let key = first.key();
                if let Ok(again) = key.parse::<ModelRef>() {
                    prop_assert_eq!(again.provider(), first.provider());
                }
            }
        }

        #[test]
        fn any_text_is_a_reference_or_an_error(text in ".{0,40}") {
            let _ = text.parse::<ModelRef>();
        }
    }
}
