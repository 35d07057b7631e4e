//! Ids of auth profiles: any non-empty text, compared exactly (auth-store.md P4).

use crate::text_id::text_id;

text_id! {
    /// The id of an auth profile such as `openai:work` or `anthropic:me@example.com`.
    ///
    /// Neither its prefix nor a name like `default` has a meaning (auth-store.md P4, BL-44). Trimmed; case is kept.
    ProfileId, "profile", |text| text.trim().into()
}

impl ProfileId {
    /// The id `<prefix>:<name>`, with `default` for a blank name (auth-store.md P2).
    ///
    /// # Errors
    /// [`IdError::Empty`](crate::IdError::Empty) when the prefix is blank.
    pub fn compose(prefix: &str, name: &str) -> Result<Self, crate::IdError> {
        let (prefix, name) = (prefix.trim(), name.trim());
        if prefix.is_empty() {
            return Err(crate::IdError::Empty { kind: "profile" });
        }
        let name = if name.is_empty() { "default" } else { name };
        Self::try_new(&format!("{prefix}:{name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p4_any_text_is_legal_and_case_counts() {
        assert_eq!(ProfileId::try_new("  Work ").unwrap().as_str(), "Work");
        assert_ne!(
            ProfileId::try_new("a:B").unwrap(),
            ProfileId::try_new("a:b").unwrap()
        );
        assert!(ProfileId::try_new("").is_err());
    }

    #[test]
    fn p2_builder_trims_both_parts_and_keeps_the_email_verbatim() {
        assert_eq!(
            ProfileId::compose(" openai ", " ").unwrap().as_str(),
            "openai:default"
        );
        assert_eq!(
            ProfileId::compose("openai", "Me@Example.com").unwrap().as_str(),
            "openai:Me@Example.com"
        );
        assert!(ProfileId::compose(" ", "x").is_err());
    }
}
