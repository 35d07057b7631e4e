//! Parsing a user's rule member by member, so that the error names the mistake.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::engine::{ProviderFilter, Row};
use crate::rules::Stage;
use crate::rules::default_owner_and_scope;
use crate::text::normal::{code_key, phrase_form};
use crate::text::phrase::{LexiconBuilder, Phrase, PhraseError};
use crate::{Certainty, Owner, Reason, RuleId, Scope};

/// The most characters of a phrase, which also bounds the size of the compiled set.
const MAX_PHRASE: usize = 200;
/// The most bytes of an id.
const MAX_ID: usize = 64;

const MEMBERS: &[&str] = &[
    "id", "provider", "status", "code", "text", "unless", "reason", "scope",
];

/// A mistake in a user's rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{rule}: {kind}")]
pub struct RuleError {
    /// The rule, by its id in backticks or its position in the list.
    pub rule: String,
    /// What is wrong.
    pub kind: RuleErrorKind,
}

impl RuleError {
    pub(super) fn in_rule(name: &str, kind: RuleErrorKind) -> Self {
        Self {
            rule: format!("rule {name}"),
            kind,
        }
    }

    pub(super) fn in_list(kind: RuleErrorKind) -> Self {
        Self {
            rule: "rules".to_owned(),
            kind,
        }
    }
}

/// What is wrong with a user's rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleErrorKind {
    /// The id has other characters or is too long.
    #[error(
        "the id may have up to 64 lower-case letters, digits, `.` and `-`; rename it, for example `acme.quota`"
    )]
    InvalidId,
    /// A status is neither a number from 100 to 599 nor a range of them.
    #[error("`{0}` is no status; write a number from 100 to 599 or a range such as \"500-599\"")]
    InvalidStatus(String),
    /// A phrase cannot be read.
    #[error("cannot read the phrase `{phrase}`: {error}")]
    InvalidPhrase {
        /// As written.
        phrase: String,
        /// What is wrong with it.
        error: PhraseError,
    },
    /// Another rule has the same id.
    #[error("another rule, shipped or yours, has this id; choose another one")]
    IdTaken,
    /// A required member is missing.
    #[error("`{0}` is missing; every rule has an `id` and a `reason`")]
    MissingMember(&'static str),
    /// The rule would match every failure.
    #[error("it would match every failure; add `provider`, `status`, `code` or `text`")]
    NoCondition,
    /// The rules are not a list.
    #[error("they must be a list of objects; put the rules between `[` and `]`")]
    NotAList,
    /// A rule is not an object.
    #[error("it is no object; write {{ \"id\": …, \"text\": …, \"reason\": … }}")]
    NotAnObject,
    /// There are more rules or phrases than fit.
    #[error(
        "there are too many rules or alternatives; keep to 500 rules and a few alternatives for each phrase"
    )]
    TooMany,
    /// A member that rules do not have.
    #[error("`{0}` is no member of a rule; use id, provider, status, code, text, unless, reason and scope")]
    UnknownMember(String),
    /// A reason that does not exist.
    #[error(
        "`{0}` is no reason; use one of auth, auth_permanent, billing, content_policy, context_overflow, format, model_not_found, overloaded, rate_limit, server_error, session_expired, timeout or unclassified"
    )]
    UnknownReason(String),
    /// A scope that does not exist.
    #[error("`{0}` is no scope; use model, profile, endpoint or none")]
    UnknownScope(String),
    /// A member has a value of the wrong type, or an empty one.
    #[error("`{0}` must be a text or a list of texts, none of them empty")]
    InvalidValue(&'static str),
}

/// What errors call a rule: its id, or its position.
pub(super) fn rule_name(rule: &Value, at: usize) -> String {
    match rule.get("id").and_then(Value::as_str) {
        Some(id) => format!("`{}`", crate::preview(id, MAX_ID)),
        None => format!("number {}", at + 1),
    }
}

/// Parses one rule.
pub(super) fn parse_rule(rule: &Value, lexicon: &mut LexiconBuilder) -> Result<Row, RuleErrorKind> {
    let rule = rule.as_object().ok_or(RuleErrorKind::NotAnObject)?;
    if let Some(unknown) = rule.keys().find(|key| !MEMBERS.contains(&key.as_str())) {
        return Err(RuleErrorKind::UnknownMember(unknown.clone()));
    }
    let id = required_text(rule, "id")?;
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-');
    if id.len() > MAX_ID || !id.chars().all(allowed) {
        return Err(RuleErrorKind::InvalidId);
    }
    let reason = required_text(rule, "reason")?;
    let then: Reason = reason
        .parse()
        .map_err(|_| RuleErrorKind::UnknownReason(reason.to_owned()))?;
    let (owner, scope) = owner_and_scope(rule, then)?;
    let codes = texts(rule, "code")?
        .into_iter()
        .map(|code| Cow::Owned(code_key(code).into_owned()));
    let row = Row {
        id: RuleId::new(id),
        stage: Stage::User,
        then,
        certainty: Certainty::Explicit,
        owner,
        scope,
        providers: providers(&texts(rule, "provider")?),
        statuses: Cow::Owned(statuses(rule)?),
        codes: codes.collect(),
        phrases: phrases(rule, "text", lexicon)?,
        unless: phrases(rule, "unless", lexicon)?,
        transports: &[],
        empty_only: false,
    };
    if row.codes.iter().any(|code| code.is_empty()) {
        return Err(RuleErrorKind::InvalidValue("code"));
    }
    let has_condition = !row.statuses.is_empty() || !row.codes.is_empty() || !row.phrases.is_empty();
    if !has_condition && matches!(row.providers, ProviderFilter::Any) {
        return Err(RuleErrorKind::NoCondition);
    }
    Ok(row)
}

/// A required text.
fn required_text<'r>(rule: &'r Map<String, Value>, member: &'static str) -> Result<&'r str, RuleErrorKind> {
    match rule.get(member) {
        None | Some(Value::Null) => Err(RuleErrorKind::MissingMember(member)),
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text.trim()),
        Some(_) => Err(RuleErrorKind::InvalidValue(member)),
    }
}

/// An optional text or list of texts.
fn texts<'r>(rule: &'r Map<String, Value>, member: &'static str) -> Result<Vec<&'r str>, RuleErrorKind> {
    let text = |value: &'r Value| match value.as_str().map(str::trim) {
        Some("") | None => Err(RuleErrorKind::InvalidValue(member)),
        Some(text) => Ok(text),
    };
    match rule.get(member) {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) if !items.is_empty() => items.iter().map(text).collect(),
        Some(value) => text(value).map(|text| vec![text]),
    }
}

fn providers(names: &[&str]) -> ProviderFilter {
    if names.is_empty() {
        return ProviderFilter::Any;
    }
    ProviderFilter::Named(names.iter().map(|name| name.to_lowercase()).collect())
}

fn owner_and_scope(rule: &Map<String, Value>, then: Reason) -> Result<(Owner, Scope), RuleErrorKind> {
    let (owner, scope) = default_owner_and_scope(then);
    let Some(written) = rule.get("scope") else {
        return Ok((owner, scope));
    };
    let written = written
        .as_str()
        .ok_or(RuleErrorKind::InvalidValue("scope"))?
        .trim();
    Ok(match written {
        "endpoint" => (Owner::Network, Scope::Endpoint),
        "model" => (owner, Scope::Model),
        "none" => (owner, Scope::None),
        "profile" => (Owner::Credential, Scope::Profile),
        _ => return Err(RuleErrorKind::UnknownScope(written.to_owned())),
    })
}

fn statuses(rule: &Map<String, Value>) -> Result<Vec<(u16, u16)>, RuleErrorKind> {
    match rule.get("status") {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) if !items.is_empty() => items.iter().map(statuses_of).collect(),
        Some(value) => statuses_of(value).map(|range| vec![range]),
    }
}

fn statuses_of(value: &Value) -> Result<(u16, u16), RuleErrorKind> {
    let written = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let (from, to) = written.split_once('-').unwrap_or((&written, &written));
    let number = |text: &str| {
        let number = text.trim().parse::<u16>().ok();
        number.filter(|number| (100..600).contains(number))
    };
    match (number(from), number(to)) {
        (Some(from), Some(to)) if from <= to => Ok((from, to)),
        _ => Err(RuleErrorKind::InvalidStatus(written)),
    }
}

fn phrases(
    rule: &Map<String, Value>,
    member: &'static str,
    lexicon: &mut LexiconBuilder,
) -> Result<Vec<Phrase>, RuleErrorKind> {
    texts(rule, member)?
        .into_iter()
        .map(|written| {
            let invalid = |error| RuleErrorKind::InvalidPhrase {
                phrase: crate::preview(written, MAX_PHRASE),
                error,
            };
            if written.chars().count() > MAX_PHRASE {
                return Err(invalid(PhraseError::TooLong));
            }
            lexicon.try_phrase(&phrase_form(written)).map_err(invalid)
        })
        .collect()
}
