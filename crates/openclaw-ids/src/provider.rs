//! Provider ids: trimmed and in lowercase, without aliases (chain.md V1).

use crate::text_id::{lowercased, text_id};

text_id! {
    /// The id of a provider such as `openai` or `z.ai`.
    ///
    /// Normalisation is trim and lowercase only: `z.ai`, `z-ai` and `zai` are three providers (chain.md V1).
    ProviderId, "provider", |text| lowercased(text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v1_trims_and_lowercases_and_knows_no_aliases() {
        for (text, id) in [
            ("OpenAI", "openai"),
            ("  Z.AI ", "z.ai"),
            ("z-ai", "z-ai"),
            ("zai", "zai"),
            ("openai-codex", "openai-codex"),
        ] {
            assert_eq!(ProviderId::try_new(text).unwrap().as_str(), id);
        }
        assert!(ProviderId::try_new(" \t").is_err());
    }

    #[test]
    fn an_empty_id_in_json_is_an_error_that_names_the_kind() {
        let error = serde_json::from_str::<ProviderId>("\" \"").unwrap_err();
        assert!(error.to_string().starts_with("provider is empty"), "{error}");
    }
}
