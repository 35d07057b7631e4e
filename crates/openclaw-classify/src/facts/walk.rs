//! Walks a parsed object and takes the members that tell something about a failure (classify.md C-2.1).

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::{Facts, Speaker, TimeMember, text};
use crate::failure::Header;
use crate::normal::{code_key, is_alphanumeric};

/// What a member means.
#[derive(Clone, Copy)]
enum Member {
    /// Holds further facts.
    Container,
    /// Names the failure.
    Code,
    /// Names the failure and may be the status.
    CodeOrStatus,
    /// What the model or the user said; never read.
    Content,
    /// Response headers.
    Headers,
    /// Words for people.
    Message,
    /// Which request parameter is at fault.
    Param,
    /// Which provider was called.
    Provider,
    /// The id of the request.
    RequestId,
    /// The HTTP status.
    Status,
    /// When the limit ends.
    Time,
    /// What somebody behind the answering party said.
    Upstream,
}

/// Member names as [`code_key`] writes them. What is not listed is not read: a body may quote the user's own data.
#[rustfmt::skip]
const MEMBERS: &[(Member, &[&str])] = &[
    (Member::Code, &["errorcode", "errcode", "type", "errortype", "kind", "name", "subtype", "limitsource", "subcode", "exception", "errorclass", "finishreason", "stopreason", "blockreason"]),
    (Member::CodeOrStatus, &["code", "status"]),
    (Member::Container, &[
        "error", "errors", "details", "detail", "body", "errorbody", "data", "response", "result", "metadata", "cause", "innererror", "fault",
        "baseresp", "errorinfo", "ratelimitinfo", "exceptioninfo", "violations", "rejection", "params", "promptfeedback",
    ]),
    (Member::Content, &["choices", "delta", "candidates", "content", "output", "completion", "embeddings"]),
    (Member::Headers, &["headers", "responseheaders"]),
    (Member::Message, &[
        "message", "msg", "errormessage", "errormsg", "errmsg", "statusmsg", "statusmessage", "statustext", "errordescription", "title",
        "reason", "localizedmessage", "reply", "err",
    ]),
    (Member::Param, &["param"]),
    (Member::Provider, &["provider"]),
    (Member::RequestId, &["requestid", "xrequestid", "logid", "traceid"]),
    (Member::Status, &["statuscode", "httpstatus", "httpstatuscode", "httpcode", "rawstatuscode", "responsecode"]),
    (Member::Time, &[
        "resetsat", "resetat", "resetsinseconds", "resetinseconds", "resetafterseconds", "resetseconds", "resetafter", "retrydelay", "retryafter",
        "retryafterseconds", "retryafterms", "resettime", "resetsafterseconds", "quotaresettimestamp", "quotaresetdelay", "resettimestamp",
    ]),
    (Member::Upstream, &["raw", "lastupstreamerror", "previouserrors", "upstream", "upstreamerror", "providererror", "lasterror"]),
];

/// Takes the facts of `value`; false when it holds none, so that its text is read as text.
pub(super) fn value(
    facts: &mut Facts,
    speaker: Speaker,
    field: &'static str,
    value: &Value,
    nesting: usize,
) -> bool {
    match value {
        Value::Object(map) => object(facts, speaker, field, map, nesting),
        Value::Array(items) => items.iter().fold(false, |any, item| {
            let used = match item {
                Value::String(words) => {
                    text::read(facts, speaker, field, words, nesting + 1);
                    true
                }
                _ => self::value(facts, speaker, field, item, nesting),
            };
            any | used
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn object(
    facts: &mut Facts,
    speaker: Speaker,
    field: &'static str,
    map: &Map<String, Value>,
    nesting: usize,
) -> bool {
    let exhausted = exhausted(map);
    facts.allowed |= exhausted == Some(false) && telemetry(map);
    let mut used = false;
    for (name, member) in map {
        let key = code_key(name);
        let Some(meaning) = meaning(&key) else { continue };
        used |= take(facts, speaker, field, meaning, &key, member, nesting);
        if let (Member::Time, Some(stated)) = (meaning, scalar(member)) {
            facts.times.push(TimeMember {
                key,
                value: stated,
                exhausted,
            });
        }
    }
    used
}

fn take(
    facts: &mut Facts,
    speaker: Speaker,
    field: &'static str,
    meaning: Member,
    key: &str,
    member: &Value,
    nesting: usize,
) -> bool {
    match (meaning, member) {
        (Member::Content, _) => {}
        (_, Value::Null | Value::Bool(_)) => return matches!(meaning, Member::Container | Member::Param),
        (Member::Upstream, _) => return nested(facts, Speaker::Upstream, field, member, nesting),
        (Member::Headers, Value::Object(headers)) => {
            facts.headers.extend(headers.iter().filter_map(|(name, value)| {
                Some(Header {
                    name: name.clone(),
                    value: scalar(value)?,
                })
            }));
        }
        (_, Value::Object(_) | Value::Array(_)) => return nested(facts, speaker, field, member, nesting),
        (Member::Message | Member::Container, Value::String(words)) => {
            if key == "reason" {
                code(facts, speaker, "reason", words);
            }
            text::read(facts, speaker, field, words, nesting + 1);
        }
        (Member::Headers, Value::String(_)) => return false,
        (Member::Status, _) => {
            status(facts, speaker, member);
            if let Some(number) = scalar(member).filter(|_| key == "statuscode") {
                code(facts, speaker, "code", &number);
            }
        }
        (Member::Code | Member::CodeOrStatus, _) => {
            if matches!(meaning, Member::CodeOrStatus) {
                status(facts, speaker, member);
            }
            if let Some(name) = scalar(member) {
                code(facts, speaker, label(key), &name);
            }
        }
        // The one parameter that says more than its code does (C-4).
        (Member::Param, _) if scalar(member).as_deref() == Some("model") => {
            facts.layer(speaker).code("param", "param model");
        }
        (Member::Provider, _) => facts.provider = facts.provider.take().or_else(|| scalar(member)),
        (Member::RequestId, _) => facts.request_id = facts.request_id.take().or_else(|| scalar(member)),
        (Member::Container | Member::Headers | Member::Message, Value::Number(_))
        | (Member::Param | Member::Time, _) => {}
    }
    true
}

fn nested(facts: &mut Facts, speaker: Speaker, field: &'static str, member: &Value, nesting: usize) -> bool {
    match member {
        Value::String(words) => {
            text::read(facts, speaker, field, words, nesting + 1);
            true
        }
        _ => value(facts, speaker, field, member, nesting) || member.as_array().is_some_and(Vec::is_empty),
    }
}

/// Takes a code; one that is a sentence is a text as well.
pub(super) fn code(facts: &mut Facts, speaker: Speaker, field: &'static str, name: &str) {
    let layer = facts.layer(speaker);
    layer.code(field, name);
    if let Some(status) = name.parse().ok().filter(|status| (400..600).contains(status)) {
        layer.status = layer.status.or(Some(status));
    }
    let sentence = name.contains(|c: char| c.is_whitespace() || ('\u{3400}'..'\u{A000}').contains(&c));
    if sentence {
        layer.words(field, name);
    }
}

fn status(facts: &mut Facts, speaker: Speaker, member: &Value) {
    let number = match member {
        Value::Number(number) => number.as_u64().and_then(|number| u16::try_from(number).ok()),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    if let Some(number) = number.filter(|number| (400..600).contains(number)) {
        let layer = facts.layer(speaker);
        layer.status = layer.status.or(Some(number));
    }
}

fn meaning(key: &str) -> Option<Member> {
    static MEANINGS: LazyLock<HashMap<&str, Member>> = LazyLock::new(|| {
        let named = MEMBERS
            .iter()
            .flat_map(|(member, names)| names.iter().map(|name| (*name, *member)));
        named.collect()
    });
    MEANINGS.get(key).copied()
}

fn label(key: &str) -> &'static str {
    match key {
        "type" | "errortype" | "kind" | "name" | "subtype" | "exception" | "errorclass" => "type",
        "status" => "status",
        "limitsource" => "limit_source",
        _ => "code",
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Whether an object says that its limit is used up (C-9): remaining 0, used 100 % or more, status rejected.
fn exhausted(map: &Map<String, Value>) -> Option<bool> {
    map.iter()
        .filter(|(name, _)| may_tell_use(name))
        .find_map(|(name, value)| match code_key(name).as_str() {
            "status" => match value.as_str().map(code_key).as_deref() {
                Some("rejected" | "exhausted" | "exceeded") => Some(true),
                Some("allowed" | "allowedwarning") => Some(false),
                _ => None,
            },
            "remaining" => value.as_f64().map(|remaining| remaining <= 0.0),
            "usedpercent" | "percentused" => value.as_f64().map(|used| used >= 100.0),
            "utilization" => value.as_f64().map(|used| used >= 1.0),
            _ => None,
        })
}

/// Whether a name begins like one of those that [`exhausted`] asks for.
fn may_tell_use(name: &str) -> bool {
    let first = name.chars().find(|c| is_alphanumeric(*c));
    first.is_some_and(|c| !c.is_ascii() || matches!(c.to_ascii_lowercase(), 'p' | 'r' | 's' | 'u'))
}

fn telemetry(map: &Map<String, Value>) -> bool {
    map.keys().any(|name| {
        matches!(
            code_key(name).as_str(),
            "ratelimittype" | "resetsat" | "isusingoverage"
        )
    })
}
