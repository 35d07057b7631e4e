//! A rule as a user writes it, read member by member so that a mistake is named.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::engine::{Providers, Row};
use crate::rules::Stage;
use crate::rules::usual;
use crate::text::normal::{code_key, phrase_form};
use crate::text::phrase::{LexiconBuilder, Phrase, PhraseFault};
use crate::{Certainty, Owner, Reason, RuleId, Scope};

/// Longer phrases are no phrases; it also bounds what the compiled set takes.
const MAX_PHRASE: usize = 200;
const MAX_ID: usize = 64;

const MEMBERS: &[&str] = &[
    "id", "provider", "status", "code", "text", "unless", "reason", "scope",
];

/// A user's rule that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{rule}: {fault}")]
pub struct BadRule {
    /// Which rule: its id in backticks, or its place in the list.
    pub rule: String,
    /// What is wrong with it.
    pub fault: RuleFault,
}

impl BadRule {
    pub(super) fn of(name: &str, fault: RuleFault) -> Self {
        Self {
            rule: format!("rule {name}"),
            fault,
        }
    }

    pub(super) fn of_all(fault: RuleFault) -> Self {
        Self {
            rule: "rules".to_owned(),
            fault,
        }
    }
}

/// What is wrong with a user's rule, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleFault {
    /// The id has other characters or is too long.
    #[error(
        "the id may have up to 64 lower-case letters, digits, `.` and `-`; rename it, for example `acme.quota`"
    )]
    BadId,
    /// A status is no number from 100 to 599 and no range of them.
    #[error("`{0}` is no status; write a number from 100 to 599 or a range such as \"500-599\"")]
    BadStatus(String),
    /// A phrase cannot be read.
    #[error("cannot read the phrase `{phrase}`: {fault}")]
    BadPhrase {
        /// As written.
        phrase: String,
        /// What is wrong with it.
        fault: PhraseFault,
    },
    /// Another rule has this id.
    #[error("another rule, shipped or yours, has this id; choose another one")]
    IdTaken,
    /// A member that every rule needs is not there.
    #[error("`{0}` is missing; every rule has an `id` and a `reason`")]
    Missing(&'static str),
    /// The rule would match every failure.
    #[error("it would match every failure; add `provider`, `status`, `code` or `text`")]
    NoCondition,
    /// The rules are no list.
    #[error("they must be a list of objects; put the rules between `[` and `]`")]
    NoList,
    /// One rule is no object.
    #[error("it is no object; write {{ \"id\": …, \"text\": …, \"reason\": … }}")]
    NoObject,
    /// The rules are more than fit.
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
    /// A member has a value of another kind.
    #[error("`{0}` must be a text or a list of texts, none of them empty")]
    WrongValue(&'static str),
}

/// How errors call a rule.
pub(super) fn name(rule: &Value, at: usize) -> String {
    match rule.get("id").and_then(Value::as_str) {
        Some(id) => format!("`{}`", crate::preview(id, MAX_ID)),
        None => format!("number {}", at + 1),
    }
}

/// One rule as a row.
pub(super) fn read(rule: &Value, lexicon: &mut LexiconBuilder) -> Result<Row, RuleFault> {
    let rule = rule.as_object().ok_or(RuleFault::NoObject)?;
    if let Some(unknown) = rule.keys().find(|key| !MEMBERS.contains(&key.as_str())) {
        return Err(RuleFault::UnknownMember(unknown.clone()));
    }
    let id = one(rule, "id")?;
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '-');
    if id.len() > MAX_ID || !id.chars().all(allowed) {
        return Err(RuleFault::BadId);
    }
    let reason = one(rule, "reason")?;
    let then: Reason = reason
        .parse()
        .map_err(|_| RuleFault::UnknownReason(reason.to_owned()))?;
    let (owner, scope) = owner_and_scope(rule, then)?;
    let codes = texts(rule, "code")?
        .into_iter()
        .map(|code| Cow::Owned(code_key(code).into_owned()));
    let row = Row {
        id: RuleId::written(id),
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
        silence: false,
    };
    if row.codes.iter().any(|code| code.is_empty()) {
        return Err(RuleFault::WrongValue("code"));
    }
    let asks = !row.statuses.is_empty() || !row.codes.is_empty() || !row.phrases.is_empty();
    if !asks && matches!(row.providers, Providers::Any) {
        return Err(RuleFault::NoCondition);
    }
    Ok(row)
}

/// A text that must be there.
fn one<'r>(rule: &'r Map<String, Value>, member: &'static str) -> Result<&'r str, RuleFault> {
    match rule.get(member) {
        None | Some(Value::Null) => Err(RuleFault::Missing(member)),
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text.trim()),
        Some(_) => Err(RuleFault::WrongValue(member)),
    }
}

/// A text, a list of texts, or nothing.
fn texts<'r>(rule: &'r Map<String, Value>, member: &'static str) -> Result<Vec<&'r str>, RuleFault> {
    let text = |value: &'r Value| match value.as_str().map(str::trim) {
        Some("") | None => Err(RuleFault::WrongValue(member)),
        Some(text) => Ok(text),
    };
    match rule.get(member) {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) if !items.is_empty() => items.iter().map(text).collect(),
        Some(value) => text(value).map(|text| vec![text]),
    }
}

fn providers(names: &[&str]) -> Providers {
    if names.is_empty() {
        return Providers::Any;
    }
    Providers::Named(names.iter().map(|name| name.to_lowercase()).collect())
}

fn owner_and_scope(rule: &Map<String, Value>, then: Reason) -> Result<(Owner, Scope), RuleFault> {
    let (owner, scope) = usual(then);
    let Some(written) = rule.get("scope") else {
        return Ok((owner, scope));
    };
    let written = written.as_str().ok_or(RuleFault::WrongValue("scope"))?.trim();
    Ok(match written {
        "endpoint" => (Owner::Network, Scope::Endpoint),
        "model" => (owner, Scope::Model),
        "none" => (owner, Scope::None),
        "profile" => (Owner::Credential, Scope::Profile),
        _ => return Err(RuleFault::UnknownScope(written.to_owned())),
    })
}

fn statuses(rule: &Map<String, Value>) -> Result<Vec<(u16, u16)>, RuleFault> {
    match rule.get("status") {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) if !items.is_empty() => items.iter().map(statuses_of).collect(),
        Some(value) => statuses_of(value).map(|range| vec![range]),
    }
}

fn statuses_of(value: &Value) -> Result<(u16, u16), RuleFault> {
    let written = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let (from, to) = written.split_once('-').unwrap_or((&written, &written));
    let number = |text: &str| {
        let number = text.trim().parse::<u16>().ok();
        number.filter(|number| (100..600).contains(number))
    };
    match (number(from), number(to)) {
        (Some(from), Some(to)) if from <= to => Ok((from, to)),
        _ => Err(RuleFault::BadStatus(written)),
    }
}

fn phrases(
    rule: &Map<String, Value>,
    member: &'static str,
    lexicon: &mut LexiconBuilder,
) -> Result<Vec<Phrase>, RuleFault> {
    texts(rule, member)?
        .into_iter()
        .map(|written| {
            let bad = |fault| RuleFault::BadPhrase {
                phrase: crate::preview(written, MAX_PHRASE),
                fault,
            };
            if written.chars().count() > MAX_PHRASE {
                return Err(bad(PhraseFault::TooLong));
            }
            lexicon.try_phrase(&phrase_form(written)).map_err(bad)
        })
        .collect()
}
