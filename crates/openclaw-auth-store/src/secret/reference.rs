//! References to secrets that are kept outside of the store (auth-store.md 4.4).

use serde_json::{Map, Value};

/// A reference to a secret in the environment, a file or the output of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretRef {
    /// The kind of source.
    pub source: SecretSource,
    /// The configured alias of the source; `default` when none was written.
    pub provider: String,
    /// The id to look up: a variable's name, a JSON pointer or `value`, a command's argument.
    pub id: String,
}

/// The kinds of sources of a [`SecretRef`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretSource {
    /// An environment variable.
    Env,
    /// The output of a command.
    Exec,
    /// A member of a JSON file, or a file's whole text.
    File,
}

/// Every source with its name in JSON.
const SOURCES: &[(SecretSource, &str)] = &[
    (SecretSource::Env, "env"),
    (SecretSource::Exec, "exec"),
    (SecretSource::File, "file"),
];

/// The alias of a source without a name.
const DEFAULT_PROVIDER: &str = "default";
/// Prefixes of a text that names a variable.
const ENV_PREFIXES: &[&str] = &["secretref-env:", "__env__:"];
/// The id that means the whole file.
pub(crate) const WHOLE_FILE: &str = "value";
/// The longest alias, in characters.
const MAX_ALIAS: usize = 64;
/// The longest id for a command, in characters.
const MAX_COMMAND_ID: usize = 256;
/// The longest variable name in a text form, in characters.
const MAX_VARIABLE: usize = 128;

impl SecretSource {
    /// The name in JSON, for example `env`.
    pub fn as_str(self) -> &'static str {
        SOURCES
            .iter()
            .find(|(source, _)| *source == self)
            .map_or("", |row| row.1)
    }

    fn parse(text: &str) -> Option<Self> {
        SOURCES
            .iter()
            .find(|(_, name)| *name == text)
            .map(|(source, _)| *source)
    }
}

impl SecretRef {
    /// A reference to an environment variable.
    pub fn env(name: &str) -> Self {
        Self {
            source: SecretSource::Env,
            provider: DEFAULT_PROVIDER.to_owned(),
            id: name.to_owned(),
        }
    }

    /// Reads a reference from JSON; `None` when it is none.
    ///
    /// Objects have exactly `source`, `id` and, optionally, `provider`. Texts are those of
    /// [`parse_text`](Self::parse_text). Stored ids need not follow the stricter grammar of
    /// [`is_well_formed`](Self::is_well_formed).
    pub fn parse(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::parse_text(text),
            Value::Object(members) => Self::parse_object(members),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
        }
    }

    /// Reads `$NAME`, `${NAME}`, `secretref-env:NAME` or `__env__:NAME`, blanks around it allowed.
    ///
    /// ```
    /// # use openclaw_auth_store::SecretRef;
    /// assert_eq!(SecretRef::parse_text(" ${GROQ_API_KEY} "), Some(SecretRef::env("GROQ_API_KEY")));
    /// assert_eq!(SecretRef::parse_text("$lower"), None);
    /// ```
    pub fn parse_text(text: &str) -> Option<Self> {
        let text = text.trim();
        let prefixed = ENV_PREFIXES.iter().find_map(|prefix| text.strip_prefix(prefix));
        let name = prefixed.or_else(|| {
            let name = text.strip_prefix('$')?;
            match name.strip_prefix('{') {
                Some(braced) => braced.strip_suffix('}'),
                None => Some(name),
            }
        })?;
        is_variable(name).then(|| Self::env(name))
    }

    fn parse_object(members: &Map<String, Value>) -> Option<Self> {
        if members
            .keys()
            .any(|name| !matches!(name.as_str(), "source" | "provider" | "id"))
        {
            return None;
        }
        let text = |name: &str| members.get(name).and_then(Value::as_str);
        let filled = |text: &str| !text.trim().is_empty();
        let provider = match members.get("provider") {
            None => DEFAULT_PROVIDER,
            Some(value) => value.as_str().filter(|text| filled(text))?,
        };
        Some(Self {
            source: SecretSource::parse(text("source")?)?,
            provider: provider.to_owned(),
            id: text("id").filter(|id| filled(id))?.to_owned(),
        })
    }

    /// Whether it may be written: it follows the strict grammar of aliases and ids, which stored references need not.
    ///
    /// An id of a command starts with a letter or digit and is no path upwards, so that it can be an argument.
    pub fn is_well_formed(&self) -> bool {
        let is_alias = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '_' | '-');
        let alias = self.provider.starts_with(|c: char| c.is_ascii_lowercase())
            && self.provider.len() <= MAX_ALIAS
            && self.provider.chars().all(is_alias);
        let id = match self.source {
            SecretSource::Env => is_variable(&self.id),
            SecretSource::Exec => is_command_id(&self.id),
            SecretSource::File => self.id == WHOLE_FILE || is_json_pointer(&self.id),
        };
        alias && id
    }

    /// The canonical JSON object.
    pub fn to_json(&self) -> Value {
        let mut members = Map::new();
        members.insert("source".to_owned(), self.source.as_str().into());
        members.insert("provider".to_owned(), self.provider.as_str().into());
        members.insert("id".to_owned(), self.id.as_str().into());
        Value::Object(members)
    }
}

fn is_command_id(id: &str) -> bool {
    let is_kept = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':' | '/' | '#' | '-');
    id.len() <= MAX_COMMAND_ID
        && id.starts_with(|c: char| c.is_ascii_alphanumeric())
        && id.chars().all(is_kept)
        && !id.split('/').any(|segment| matches!(segment, "." | ".."))
}

fn is_json_pointer(id: &str) -> bool {
    let mut tildes = id.split('~').skip(1);
    id.starts_with('/') && tildes.all(|rest| rest.starts_with(['0', '1']))
}

fn is_variable(name: &str) -> bool {
    name.len() <= MAX_VARIABLE
        && name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| matches!(c, 'A'..='Z' | '0'..='9' | '_'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rows_of_4_4() {
        let named = |provider: &str| SecretRef {
            provider: provider.to_owned(),
            ..SecretRef::env("A")
        };
        for (value, expected) in [
            (
                json!({"source": "env", "provider": "work", "id": "A"}),
                Some(named("work")),
            ),
            (json!({"source": "env", "id": "A"}), Some(named("default"))),
            (
                json!({"source": "env", "provider": "default", "id": "lower"}),
                Some(SecretRef::env("lower")),
            ),
            (json!("$A"), Some(named("default"))),
            (json!(" ${A} "), Some(named("default"))),
            (json!("secretref-env:A"), Some(named("default"))),
            (json!("__env__:A"), Some(named("default"))),
            (json!({"source": "env", "provider": "p", "id": "A", "x": 1}), None),
            (json!({"source": "env", "provider": " ", "id": "A"}), None),
            (json!({"source": "env", "provider": 1, "id": "A"}), None),
            (json!({"source": "vault", "provider": "p", "id": "A"}), None),
            (json!({"source": "env"}), None),
            (json!({"source": "env", "id": " "}), None),
            (json!("$a"), None),
            (json!("${A"), None),
            (json!("$1A"), None),
            (json!("A"), None),
            (json!("$"), None),
            (json!(7), None),
            (json!(null), None),
        ] {
            assert_eq!(SecretRef::parse(&value), expected, "{value}");
        }
    }

    #[test]
    fn a_variable_has_at_most_128_characters() {
        let name = format!("A{}", "B".repeat(127));
        assert!(SecretRef::parse_text(&format!("${name}")).is_some());
        assert!(SecretRef::parse_text(&format!("${name}B")).is_none());
    }

    #[test]
    fn the_strict_grammar_of_4_4() {
        use SecretSource::{Env, Exec, File};
        let long = "a".repeat(64);
        for (source, provider, id, well_formed) in [
            (Env, "default", "A_1", true),
            (Env, "default", "lower", false),
            (Env, "Work", "A", false),
            (Env, "1a", "A", false),
            (Env, &*long, "A", true),
            (Env, &*format!("{long}a"), "A", false),
            (File, "vault", "value", true),
            (File, "vault", "/a/b~0~1", true),
            (File, "vault", "/a~2", false),
            (File, "vault", "/a~", false),
            (File, "vault", "a", false),
            (Exec, "op", "vault/item#field:1.2-3_x", true),
            (Exec, "op", "-rf", false),
            (Exec, "op", "a/../b", false),
            (Exec, "op", "a/./b", false),
            (Exec, "op", "a b", false),
            (Exec, "op", &*"a".repeat(256), true),
            (Exec, "op", &*"a".repeat(257), false),
        ] {
            let pointer = SecretRef {
                source,
                provider: provider.to_owned(),
                id: id.to_owned(),
            };
            assert_eq!(pointer.is_well_formed(), well_formed, "{pointer:?}");
        }
    }

    #[test]
    fn the_canonical_object_reads_back_as_itself() {
        for source in [SecretSource::Env, SecretSource::Exec, SecretSource::File] {
            let pointer = SecretRef {
                source,
                ..SecretRef::env("A")
            };
            assert_eq!(SecretRef::parse(&pointer.to_json()), Some(pointer));
        }
    }
}
