//! Reading the known members of a parsed error object (classify.md C-2.1).

use std::borrow::Cow;
use std::sync::LazyLock;

use smallvec::SmallVec;

use super::{Facts, Origin, TimeMember, UsageField, message};
use crate::Header;
use crate::text::lenient_json::{Json, Members};
use crate::text::name_table::NameTable;
use crate::text::normal::is_code_key;

/// How a member is read.
#[derive(Clone, Copy)]
enum MemberKind {
    /// Contains further facts.
    Container,
    /// Names the failure.
    Code,
    /// Names the failure and may be the status.
    CodeOrStatus,
    /// Content of the model or the user; never read.
    Content,
    /// Response headers.
    Headers,
    /// A message for people.
    Message,
    /// The request parameter at fault.
    Param,
    /// The provider that was called.
    Provider,
    /// The id of the request.
    RequestId,
    /// The HTTP status.
    Status,
    /// When a limit ends.
    Time,
    /// The name of a whole class of problems; what else is said is more precise (RFC 9457).
    Title,
    /// A quoted upstream error.
    Upstream,
}

/// The known members by the [`code_key`](crate::text::normal::code_key) of their names. Other members are not read,
/// because a body may quote the user's own data.
#[rustfmt::skip]
const MEMBERS: &[(MemberKind, &[&str])] = &[
    (MemberKind::Code, &["errorcode", "errcode", "type", "errortype", "kind", "name", "subtype", "limitsource", "subcode", "exception", "errorclass", "finishreason", "stopreason", "blockreason"]),
    (MemberKind::CodeOrStatus, &["code", "status"]),
    (MemberKind::Container, &[
        "error", "errors", "details", "detail", "body", "errorbody", "data", "response", "result", "metadata", "cause", "innererror", "fault",
        "baseresp", "errorinfo", "ratelimitinfo", "exceptioninfo", "violations", "rejection", "params", "promptfeedback",
    ]),
    (MemberKind::Content, &["choices", "delta", "candidates", "content", "output", "completion", "embeddings"]),
    (MemberKind::Headers, &["headers", "responseheaders"]),
    (MemberKind::Message, &[
        "message", "msg", "errormessage", "errormsg", "errmsg", "statusmsg", "statusmessage", "statustext", "errordescription",
        "reason", "localizedmessage", "reply", "err",
    ]),
    (MemberKind::Param, &["param"]),
    (MemberKind::Provider, &["provider"]),
    (MemberKind::RequestId, &["requestid", "xrequestid", "logid", "traceid"]),
    (MemberKind::Status, &["statuscode", "httpstatus", "httpstatuscode", "httpcode", "rawstatuscode", "responsecode"]),
    (MemberKind::Time, &[
        "resetsat", "resetat", "resetsinseconds", "resetinseconds", "resetafterseconds", "resetseconds", "resetafter", "retrydelay", "retryafter",
        "retryafterseconds", "retryafterms", "resettime", "resetsafterseconds", "quotaresettimestamp", "quotaresetdelay", "resettimestamp",
    ]),
    (MemberKind::Title, &["title"]),
    (MemberKind::Upstream, &["raw", "lastupstreamerror", "previouserrors", "upstream", "upstreamerror", "providererror", "lasterror"]),
];

/// Adds the facts of `value`; false when it has none and should be read as text.
pub(super) fn read_value(
    facts: &mut Facts<'_>,
    origin: Origin,
    field: &'static str,
    value: &Json<'_>,
    nesting: usize,
) -> bool {
    match value {
        Json::Object(members) => read_object(facts, origin, field, members, nesting),
        Json::List(items) => items.iter().fold(false, |any, item| {
            let used = match item {
                Json::Text(words) => {
                    message::read(facts, origin, field, words, nesting + 1);
                    true
                }
                _ => read_value(facts, origin, field, item, nesting),
            };
            any | used
        }),
        Json::Null | Json::Bool | Json::Number(_) | Json::Text(_) => false,
    }
}

/// Adds the facts of the known members of an object; false when it has none.
fn read_object(
    facts: &mut Facts<'_>,
    origin: Origin,
    field: &'static str,
    members: &Members<'_>,
    nesting: usize,
) -> bool {
    let roles = &*ROLES;
    let known: SmallVec<[(&Json<'_>, &MemberRole); 8]> = members
        .iter()
        .filter_map(|(name, member)| Some((member, roles.get(name)?.1)))
        .collect();
    let exhausted = known
        .iter()
        .find_map(|(member, role)| exhausted(member, role.usage?));
    facts.allowed |= exhausted == Some(false) && known.iter().any(|(_, role)| role.is_telemetry);
    let is_title = |role: &MemberRole| matches!(role.kind, Some((MemberKind::Title, _)));
    // Titles last, so that the first message for people is the precise one.
    let titles = known.iter().copied().filter(|(_, role)| is_title(role));
    let others = known.iter().copied().filter(|(_, role)| !is_title(role));
    let mut used = false;
    for (member, role) in others.chain(titles) {
        let Some((kind, key)) = role.kind else {
            continue;
        };
        used |= read_member(facts, origin, field, kind, key, member, nesting);
        if let (MemberKind::Time, Some(stated)) = (kind, scalar(member)) {
            facts.times.push(TimeMember {
                key,
                value: stated.into_owned(),
                exhausted,
            });
        }
    }
    used
}

/// Adds the facts of one known member; false when it has none.
fn read_member(
    facts: &mut Facts<'_>,
    origin: Origin,
    field: &'static str,
    kind: MemberKind,
    key: &str,
    member: &Json<'_>,
    nesting: usize,
) -> bool {
    match (kind, member) {
        (MemberKind::Content, _) => {}
        (_, Json::Null | Json::Bool) => return matches!(kind, MemberKind::Container | MemberKind::Param),
        (MemberKind::Upstream, _) => return read_nested(facts, Origin::Upstream, field, member, nesting),
        (MemberKind::Headers, Json::Object(headers)) => {
            facts.headers.extend(headers.iter().filter_map(|(name, value)| {
                Some(Header {
                    name: (*name).to_owned(),
                    value: scalar(value)?.into_owned(),
                })
            }));
        }
        (_, Json::Object(_) | Json::List(_)) => return read_nested(facts, origin, field, member, nesting),
        (MemberKind::Message | MemberKind::Container | MemberKind::Title, Json::Text(words)) => {
            if key == "reason" {
                add_code(facts, origin, "reason", words);
            }
            message::read(facts, origin, field, words, nesting + 1);
        }
        (MemberKind::Headers, Json::Text(_)) => return false,
        (MemberKind::Status, _) => {
            read_status(facts, origin, member);
            // A word instead of a number names the failure as a code does.
            let is_word = matches!(member, Json::Text(text) if text.trim().parse::<u16>().is_err());
            if let Some(name) = scalar(member).filter(|_| is_word || key == "statuscode") {
                add_code(facts, origin, "code", &name);
            }
        }
        (MemberKind::Code | MemberKind::CodeOrStatus, _) => {
            if matches!(kind, MemberKind::CodeOrStatus) {
                read_status(facts, origin, member);
            }
            if let Some(name) = scalar(member) {
                add_code(facts, origin, label(key), &name);
            }
        }
        // The one parameter that is more specific than the code beside it (C-4).
        (MemberKind::Param, _) if scalar(member).as_deref() == Some("model") => {
            facts.add_code(origin, "param", "param model");
        }
        (MemberKind::Provider, _) => keep_first(&mut facts.provider, member),
        (MemberKind::RequestId, _) => keep_first(&mut facts.request_id, member),
        (
            MemberKind::Container | MemberKind::Headers | MemberKind::Message | MemberKind::Title,
            Json::Number(_),
        )
        | (MemberKind::Param | MemberKind::Time, _) => {}
    }
    true
}

/// Keeps the first value that is given.
fn keep_first(known: &mut Option<String>, member: &Json<'_>) {
    *known = known.take().or_else(|| scalar(member).map(Cow::into_owned));
}

/// Adds the facts of a member that contains further facts; false when it has none.
fn read_nested(
    facts: &mut Facts<'_>,
    origin: Origin,
    field: &'static str,
    member: &Json<'_>,
    nesting: usize,
) -> bool {
    match member {
        Json::Text(words) => {
            message::read(facts, origin, field, words, nesting + 1);
            true
        }
        _ => {
            read_value(facts, origin, field, member, nesting)
                || matches!(member, Json::List(items) if items.is_empty())
        }
    }
}

/// Adds a code; one that is a sentence is added as a text as well.
pub(super) fn add_code(facts: &mut Facts<'_>, origin: Origin, field: &'static str, name: &str) {
    facts.add_code(origin, field, name);
    let layer = facts.layer(origin);
    if let Some(status) = name.parse().ok().filter(|status| (400..600).contains(status)) {
        layer.status = layer.status.or(Some(status));
    }
    let sentence = if name.is_ascii() {
        name.bytes().any(|byte| matches!(byte, b'\t'..=b'\r' | b' '))
    } else {
        name.contains(|c: char| c.is_whitespace() || ('\u{3400}'..'\u{A000}').contains(&c))
    };
    if sentence {
        layer.add_text(field, name);
    }
}

/// Keeps the first status that is given, if the member is one.
fn read_status(facts: &mut Facts<'_>, origin: Origin, member: &Json<'_>) {
    let number = match member {
        Json::Number(number) => number.as_u64().and_then(|number| u16::try_from(number).ok()),
        Json::Text(text) => text.trim().parse().ok(),
        Json::Null | Json::Bool | Json::List(_) | Json::Object(_) => None,
    };
    if let Some(number) = number.filter(|number| (400..600).contains(number)) {
        let layer = facts.layer(origin);
        layer.status = layer.status.or(Some(number));
    }
}

/// What evidence calls the field of a code.
fn label(key: &str) -> &'static str {
    match key {
        "type" | "errortype" | "kind" | "name" | "subtype" | "exception" | "errorclass" => "type",
        "status" => "status",
        "limitsource" => "limit_source",
        _ => "code",
    }
}

/// The text of a text or number.
fn scalar<'n>(value: &'n Json<'_>) -> Option<Cow<'n, str>> {
    match value {
        Json::Text(text) => Some(Cow::Borrowed(message::trimmed(text))).filter(|text| !text.is_empty()),
        Json::Number(number) => Some(Cow::Owned(number.to_string())),
        Json::Null | Json::Bool | Json::List(_) | Json::Object(_) => None,
    }
}

/// The members that say how much of a limit is used.
const USAGE_FIELDS: &[(&str, UsageField)] = &[
    ("status", UsageField::Status),
    ("remaining", UsageField::Remaining),
    ("usedpercent", UsageField::Percent),
    ("percentused", UsageField::Percent),
    ("utilization", UsageField::Fraction),
];

/// Members that only rate-limit telemetry has.
const TELEMETRY: &[&str] = &["ratelimittype", "resetsat", "isusingoverage"];

/// What a member name stands for.
#[derive(Clone, Copy, Default)]
struct MemberRole {
    /// How it is read, and its key.
    kind: Option<(MemberKind, &'static str)>,
    usage: Option<UsageField>,
    is_telemetry: bool,
}

static ROLES: LazyLock<NameTable<MemberRole>> = LazyLock::new(|| {
    let mut roles: NameTable<MemberRole> = NameTable::EMPTY;
    for (member, keys) in MEMBERS {
        for key in *keys {
            roles.entry((*key).into()).kind = Some((*member, key));
        }
    }
    for (key, usage) in USAGE_FIELDS {
        roles.entry((*key).into()).usage = Some(*usage);
    }
    for key in TELEMETRY {
        roles.entry((*key).into()).is_telemetry = true;
    }
    roles
});

/// Whether a member says that its limit is used up (C-9): remaining 0, used 100 % or more, status rejected.
fn exhausted(member: &Json<'_>, usage: UsageField) -> Option<bool> {
    let number = || match member {
        Json::Number(number) => number.as_f64(),
        Json::Null | Json::Bool | Json::Text(_) | Json::List(_) | Json::Object(_) => None,
    };
    match usage {
        UsageField::Remaining => number().map(|left| left <= 0.0),
        UsageField::Percent => number().map(|used| used >= 100.0),
        UsageField::Fraction => number().map(|used| used >= 1.0),
        UsageField::Status => match member {
            Json::Text(text) => says_exhausted(text),
            Json::Null | Json::Bool | Json::Number(_) | Json::List(_) | Json::Object(_) => None,
        },
    }
}

fn says_exhausted(status: &str) -> Option<bool> {
    let is = |key: &&str| is_code_key(status, key);
    if ["rejected", "exhausted", "exceeded"].iter().any(is) {
        return Some(true);
    }
    ["allowed", "allowedwarning"].iter().any(is).then_some(false)
}
