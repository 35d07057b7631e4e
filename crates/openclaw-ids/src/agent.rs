//! Agent ids and their normalisation (auth-store.md L10).

/// The id of an agent such as `main`: lowercase, at most 64 characters of `[a-z0-9_-]`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentId(std::sync::Arc<str>);

/// The most characters of an agent id.
const MAX_LEN: usize = 64;

impl AgentId {
    /// The agent that owns the inherited store and that an empty name means (L10, L13).
    pub const MAIN: &'static str = "main";

    /// The agent id of any text, normalised; `main` when nothing of the text can be an id (L10).
    ///
    /// ```
    /// # use openclaw_ids::AgentId;
    /// assert_eq!(AgentId::new("Ops Team").as_str(), "ops-team");
    /// ```
    pub fn new(text: &str) -> Self {
        let lower = text.trim().to_lowercase();
        if is_valid(&lower) {
            return Self(lower.into());
        }
        let mut dashed = String::with_capacity(lower.len());
        for c in lower.chars() {
            if is_body(c) {
                dashed.push(c);
            } else if !dashed.ends_with(REPLACEMENT) {
                dashed.push(REPLACEMENT);
            }
        }
        let cut: String = dashed
            .replace(REPLACEMENT, "-")
            .trim_matches('-')
            .chars()
            .take(MAX_LEN)
            .collect();
        if cut.is_empty() {
            Self::main()
        } else {
            Self(cut.into())
        }
    }

    /// The agent `main`.
    pub fn main() -> Self {
        Self(Self::MAIN.into())
    }

    /// The normalised text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Stands for a run of replaced characters, so that a run beside a literal `-` becomes a dash of its own.
const REPLACEMENT: char = '\0';

fn is_body(c: char) -> bool {
    matches!(c, 'a'..='z' | '0'..='9' | '_' | '-')
}

fn is_valid(text: &str) -> bool {
    text.len() <= MAX_LEN && !text.is_empty() && !text.starts_with(['_', '-']) && text.chars().all(is_body)
}

impl std::fmt::Display for AgentId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Debug for AgentId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

impl serde::Serialize for AgentId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> serde::Deserialize<'de> for AgentId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::new(&<std::borrow::Cow<'de, str>>::deserialize(
            deserializer,
        )?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn l10_vectors() {
        for (text, id) in [
            ("", "main"),
            ("   ", "main"),
            ("Ops", "ops"),
            ("Ops Team", "ops-team"),
            ("a__b-c", "a__b-c"),
            ("--x--", "x"),
            ("a / b", "a-b"),
            ("a -b", "a--b"),
            ("???", "main"),
            ("_lead", "_lead"),
            ("-lead", "lead"),
            ("Ünïcode", "n-code"),
        ] {
            assert_eq!(AgentId::new(text).as_str(), id, "{text:?}");
        }
        assert_eq!(AgentId::new(&"x".repeat(70)).as_str().len(), MAX_LEN);
    }

    proptest! {
        #[test]
        fn l10_is_idempotent_and_always_in_the_alphabet(text in ".{0,80}") {
            let id = AgentId::new(&text);
            prop_assert!(id.as_str().chars().all(is_body) && !id.as_str().is_empty());
            prop_assert!(id.as_str().len() <= MAX_LEN);
        }
    }
}
