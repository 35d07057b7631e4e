//! Walks a parsed object and takes the members that tell something about a failure (classify.md C-2.1).

use std::borrow::Cow;
use std::sync::LazyLock;

use super::{Facts, Speaker, TimeMember, text};
use crate::failure::Header;
use crate::few::Few;
use crate::text::lenient_json::{Members, Node};
use crate::text::name_table::Keyed;
use crate::text::normal::is_code_key;

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

/// Member names as [`crate::text::normal::code_key`] writes them. What is not listed is not read: a body may quote the user's own data.
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
    facts: &mut Facts<'_>,
    speaker: Speaker,
    field: &'static str,
    value: &Node<'_>,
    nesting: usize,
) -> bool {
    match value {
        Node::Object(members) => object(facts, speaker, field, members, nesting),
        Node::List(items) => items.iter().fold(false, |any, item| {
            let used = match item {
                Node::Text(words) => {
                    text::read(facts, speaker, field, words, nesting + 1);
                    true
                }
                _ => self::value(facts, speaker, field, item, nesting),
            };
            any | used
        }),
        Node::Null | Node::Bool | Node::Number(_) | Node::Text(_) => false,
    }
}

fn object(
    facts: &mut Facts<'_>,
    speaker: Speaker,
    field: &'static str,
    members: &Members<'_>,
    nesting: usize,
) -> bool {
    let names = &*NAMES;
    let named: Few<(u16, Option<&Named>), 8> = (0u16..)
        .zip(members)
        .filter_map(|(place, (name, _))| Some((place, Some(names.get(name)?.1))))
        .collect();
    let known = || {
        named
            .iter()
            .filter_map(|(place, named)| Some((&members[usize::from(*place)].1, (*named)?)))
    };
    let exhausted = known().find_map(|(member, named)| exhausted(member, named.tells?));
    facts.allowed |= exhausted == Some(false) && known().any(|(_, named)| named.is_telemetry);
    let mut used = false;
    for (member, named) in known() {
        let Some((meaning, key)) = named.means else {
            continue;
        };
        used |= take(facts, speaker, field, meaning, key, member, nesting);
        if let (Member::Time, Some(stated)) = (meaning, scalar(member)) {
            facts.times.push(TimeMember {
                key,
                value: stated.into_owned(),
                exhausted,
            });
        }
    }
    used
}

fn take(
    facts: &mut Facts<'_>,
    speaker: Speaker,
    field: &'static str,
    meaning: Member,
    key: &str,
    member: &Node<'_>,
    nesting: usize,
) -> bool {
    match (meaning, member) {
        (Member::Content, _) => {}
        (_, Node::Null | Node::Bool) => return matches!(meaning, Member::Container | Member::Param),
        (Member::Upstream, _) => return nested(facts, Speaker::Upstream, field, member, nesting),
        (Member::Headers, Node::Object(headers)) => {
            facts.headers.extend(headers.iter().filter_map(|(name, value)| {
                Some(Header {
                    name: (*name).to_owned(),
                    value: scalar(value)?.into_owned(),
                })
            }));
        }
        (_, Node::Object(_) | Node::List(_)) => return nested(facts, speaker, field, member, nesting),
        (Member::Message | Member::Container, Node::Text(words)) => {
            if key == "reason" {
                code(facts, speaker, "reason", words);
            }
            text::read(facts, speaker, field, words, nesting + 1);
        }
        (Member::Headers, Node::Text(_)) => return false,
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
            facts.code(speaker, "param", "param model");
        }
        (Member::Provider, _) => keep_first(&mut facts.provider, member),
        (Member::RequestId, _) => keep_first(&mut facts.request_id, member),
        (Member::Container | Member::Headers | Member::Message, Node::Number(_))
        | (Member::Param | Member::Time, _) => {}
    }
    true
}

fn keep_first(known: &mut Option<String>, member: &Node<'_>) {
    *known = known.take().or_else(|| scalar(member).map(Cow::into_owned));
}

fn nested(
    facts: &mut Facts<'_>,
    speaker: Speaker,
    field: &'static str,
    member: &Node<'_>,
    nesting: usize,
) -> bool {
    match member {
        Node::Text(words) => {
            text::read(facts, speaker, field, words, nesting + 1);
            true
        }
        _ => {
            value(facts, speaker, field, member, nesting)
                || matches!(member, Node::List(items) if items.is_empty())
        }
    }
}

/// Takes a code; one that is a sentence is a text as well.
pub(super) fn code(facts: &mut Facts<'_>, speaker: Speaker, field: &'static str, name: &str) {
    facts.code(speaker, field, name);
    let layer = facts.layer(speaker);
    if let Some(status) = name.parse().ok().filter(|status| (400..600).contains(status)) {
        layer.status = layer.status.or(Some(status));
    }
    let sentence = if name.is_ascii() {
        name.bytes().any(|byte| matches!(byte, b'\t'..=b'\r' | b' '))
    } else {
        name.contains(|c: char| c.is_whitespace() || ('\u{3400}'..'\u{A000}').contains(&c))
    };
    if sentence {
        layer.words(field, name);
    }
}

fn status(facts: &mut Facts<'_>, speaker: Speaker, member: &Node<'_>) {
    let number = match member {
        Node::Number(number) => number.as_u64().and_then(|number| u16::try_from(number).ok()),
        Node::Text(text) => text.trim().parse().ok(),
        Node::Null | Node::Bool | Node::List(_) | Node::Object(_) => None,
    };
    if let Some(number) = number.filter(|number| (400..600).contains(number)) {
        let layer = facts.layer(speaker);
        layer.status = layer.status.or(Some(number));
    }
}

fn label(key: &str) -> &'static str {
    match key {
        "type" | "errortype" | "kind" | "name" | "subtype" | "exception" | "errorclass" => "type",
        "status" => "status",
        "limitsource" => "limit_source",
        _ => "code",
    }
}

fn scalar<'n>(value: &'n Node<'_>) -> Option<Cow<'n, str>> {
    match value {
        Node::Text(text) => Some(Cow::Borrowed(text::trimmed(text))).filter(|text| !text.is_empty()),
        Node::Number(number) => Some(Cow::Owned(number.to_string())),
        Node::Null | Node::Bool | Node::List(_) | Node::Object(_) => None,
    }
}

/// What a member says about how much of a limit is used.
#[derive(Clone, Copy)]
enum Use {
    Left,
    Percent,
    Share,
    Status,
}

const USES: &[(&str, Use)] = &[
    ("status", Use::Status),
    ("remaining", Use::Left),
    ("usedpercent", Use::Percent),
    ("percentused", Use::Percent),
    ("utilization", Use::Share),
];

/// Members that only news about limits has.
const TELEMETRY: &[&str] = &["ratelimittype", "resetsat", "isusingoverage"];

/// What a name is known for.
#[derive(Clone, Copy, Default)]
struct Named {
    /// With its key.
    means: Option<(Member, &'static str)>,
    tells: Option<Use>,
    is_telemetry: bool,
}

static NAMES: LazyLock<Keyed<Named>> = LazyLock::new(|| {
    let mut names: Keyed<Named> = Keyed::EMPTY;
    for (member, keys) in MEMBERS {
        for key in *keys {
            names.entry((*key).into()).means = Some((*member, key));
        }
    }
    for (key, tells) in USES {
        names.entry((*key).into()).tells = Some(*tells);
    }
    for key in TELEMETRY {
        names.entry((*key).into()).is_telemetry = true;
    }
    names
});

/// Whether a member says that its limit is used up (C-9): remaining 0, used 100 % or more, status rejected.
fn exhausted(member: &Node<'_>, tells: Use) -> Option<bool> {
    let number = || match member {
        Node::Number(number) => number.as_f64(),
        Node::Null | Node::Bool | Node::Text(_) | Node::List(_) | Node::Object(_) => None,
    };
    match tells {
        Use::Left => number().map(|left| left <= 0.0),
        Use::Percent => number().map(|used| used >= 100.0),
        Use::Share => number().map(|used| used >= 1.0),
        Use::Status => match member {
            Node::Text(text) => says_exhausted(text),
            Node::Null | Node::Bool | Node::Number(_) | Node::List(_) | Node::Object(_) => None,
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
