//! What is looked for, how bad it is and what to do about it.

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// It may be meant.
    Note,
    /// It works, but hardly as meant.
    Warning,
    /// It does not work.
    Error,
}

impl std::fmt::Display for Severity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// One thing that is looked for.
#[derive(Debug, PartialEq, Eq)]
pub struct LintRule {
    /// Stable name.
    pub code: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// What to do about it.
    pub remedy: &'static str,
}

macro_rules! rules {
    ($($name:ident = $code:literal, $severity:ident, $remedy:literal;)*) => {
        $(pub(super) static $name: LintRule = LintRule {
            code: $code,
            severity: Severity::$severity,
            remedy: $remedy,
        };)*
        /// Everything that is looked for, by code.
        pub static LINT_RULES: &[&LintRule] = &[$(&$name),*];
    };
}

rules! {
    ALIAS_HIDES_MODEL = "alias-hides-model", Warning,
        "choose another alias; asking for that model can give this one instead";
    ALIAS_NAME = "alias-name", Warning,
        "use letters, digits and _ . : - only; a name like a reference takes the place of that model";
    ALIAS_TWICE = "alias-twice", Warning,
        "give each alias to one model; the last one wins";
    BARE_FALLBACK = "bare-fallback", Warning,
        "write the fallback as provider/model; without a provider it belongs to the primary's";
    DUPLICATE_ENTRY = "duplicate-entry", Warning,
        "keep one of the two; only the first one is read";
    DUPLICATE_FALLBACK = "duplicate-fallback", Warning,
        "remove the later entry; each model is tried once, at its first place";
    EMPTY_FALLBACKS = "empty-fallbacks", Note,
        "remove the empty list to use the default fallbacks; keep it to allow none";
    GUESSED_PROVIDER = "guessed-provider", Warning,
        "write the model as provider/model";
    INCOMPLETE_PROVIDER = "incomplete-provider", Error,
        "give the provider a baseUrl";
    MISSING_CREDENTIALS = "missing-credentials", Warning,
        "store a key with `openclaw-gateway auth add <provider>`, set its apiKey, or log in; until then it is tried in vain";
    ONE_ACCOUNT = "one-account", Warning,
        "add a fallback of another account; an empty or blocked account takes all of these at once";
    ONE_PROVIDER = "one-provider", Warning,
        "add a fallback of another provider; an outage or an empty account takes all of these at once";
    PARTIAL_WILDCARD = "partial-wildcard", Warning,
        "name each model, or the whole provider as provider/*; no other wildcard works";
    PRIMARY_AS_FALLBACK = "primary-as-fallback", Warning,
        "remove the entry; the primary is tried first and not again";
    PRIMARY_NOT_ALLOWED = "primary-not-allowed", Warning,
        "add the model to agents.defaults.models, or people cannot switch back to it";
    PRIMARY_ONLY = "primary-only", Note,
        "add fallbacks to the agent's model; naming only a primary allows none";
    PROFILE_DROPPED = "profile-dropped", Warning,
        "remove the part from @ on and set auth.order instead; a chain ignores it";
    PROVIDER_SLASH = "provider-slash", Error,
        "rename the provider without a slash; a reference ends its provider at the first one";
    SMALLER_WINDOW = "smaller-window", Warning,
        "put models with as large a window first, or expect long sessions to be skipped or compacted here";
    UNKNOWN_KEY = "unknown-key", Error,
        "use primary and fallbacks; other keys mean nothing here";
    UNKNOWN_MODEL = "unknown-model", Warning,
        "check the spelling, or add the model to its provider's models";
    UNKNOWN_PROVIDER = "unknown-provider", Error,
        "check the spelling, or describe the provider under models.providers";
    UNREADABLE_MODEL = "unreadable-model", Error,
        "write the model as provider/model";
    UNUSED_FALLBACKS = "unused-fallbacks", Note,
        "every listed agent has fallbacks of its own; remove theirs or these";
    UNUSED_SUBAGENTS = "unused-subagents", Note,
        "every listed agent names a model, which its sub-agents use; give agents a subagents.model instead";
    WILDCARD_FALLBACK = "wildcard-fallback", Error,
        "name one model; a wildcard only works in agents.defaults.models";
}
