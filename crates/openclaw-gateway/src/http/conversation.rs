//! Which conversation a request belongs to, when the client says so in one way or another.

use axum::http::HeaderMap;
use openclaw_ids::{AgentId, SessionKey};
use sha2::{Digest, Sha256};

use super::headers::request;
use super::selection::{AskError, text, within};

/// Headers in which coding agents and their libraries name a conversation, the more telling ones first.
const CLIENT_HEADERS: &[&str] = &[
    "x-claude-code-session-id",
    "x-opencode-session",
    "x-session-affinity",
    "x-session-id",
    "session-id",
    "session_id",
    "conversation_id",
];
/// The longest session key of our own header, in characters.
const MAX_SESSION_KEY: usize = 400;
/// Longest name that is kept as it is, in bytes; a longer one is kept as its hash.
const MAX_NAME: usize = 128;

/// The session of a request: our own header as it is, else what the body calls the user, else what coding agents
/// send. The last two stay apart from the sessions of other agents and of the other program.
pub(crate) fn session_key(
    agent: &AgentId,
    user: Option<&str>,
    headers: &HeaderMap,
) -> Result<Option<SessionKey>, AskError> {
    const EXPECTED: &str = "a text in UTF-8 without control characters";
    if let Some(key) = text(headers, request::SESSION_KEY, EXPECTED)? {
        let key = within(key, "the session key", MAX_SESSION_KEY)?;
        let key = SessionKey::try_new(key)
            .ok()
            .filter(|_| !key.contains(char::is_control));
        return key.map(Some).ok_or(AskError::Header {
            header: request::SESSION_KEY,
            expected: EXPECTED,
        });
    }
    let user = user.map(str::trim).filter(|user| !user.is_empty());
    // What another program's header holds is not for us to refuse.
    let header = || {
        CLIENT_HEADERS
            .iter()
            .find_map(|name| text(headers, name, "").ok()?)
    };
    let (kind, name) = match (user, user.is_none().then(header).flatten()) {
        (Some(user), _) => ("user", user),
        (None, Some(name)) => ("client", name),
        (None, None) => return Ok(None),
    };
    Ok(SessionKey::try_new(&format!("agent:{agent}:{kind}:{}", bounded(name))).ok())
}

/// A name that a client made up, so that it is short and shows in a log as one word.
fn bounded(name: &str) -> String {
    if name.len() <= MAX_NAME && name.bytes().all(|byte| byte.is_ascii_graphic()) {
        return name.to_owned();
    }
    let hash = Sha256::digest(name.as_bytes());
    let half = hash
        .iter()
        .take(16)
        .fold(0_u128, |half, byte| half << 8 | u128::from(*byte));
    format!("sha256-{half:032x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(user: Option<&str>, headers: &[(&'static str, &str)]) -> Option<String> {
        let headers = headers
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        let found = session_key(&AgentId::main(), user, &headers.collect()).unwrap();
        found.map(|key| key.to_string())
    }

    #[test]
    fn the_most_explicit_name_wins() {
        let own = (request::SESSION_KEY, "agent:main:chat");
        let (claude, codex) = (("x-claude-code-session-id", "c-1"), ("session_id", "x-1"));
        for (user, headers, expected) in [
            (Some("u"), &[own, codex] as &[_], Some("agent:main:chat")),
            (Some(" u1 "), &[codex], Some("agent:main:user:u1")),
            (Some(" "), &[codex], Some("agent:main:client:x-1")),
            (None, &[codex, claude], Some("agent:main:client:c-1")),
            (None, &[("session-id", " ")], None),
            (None, &[], None),
        ] {
            assert_eq!(key(user, headers).as_deref(), expected, "{user:?} {headers:?}");
        }
    }

    #[test]
    fn a_key_may_be_written_in_any_script_and_is_refused_when_it_cannot_be_typed() {
        let read = |bytes: &[u8]| {
            let value = axum::http::HeaderValue::from_bytes(bytes).unwrap();
            let headers = HeaderMap::from_iter([(request::SESSION_KEY.parse().unwrap(), value)]);
            session_key(&AgentId::main(), None, &headers)
                .map(|key| key.unwrap().to_string())
                .ok()
        };
        let name = "agent:main:Zoë-会話";
        assert_eq!(read(name.as_bytes()).as_deref(), Some(name));
        assert_eq!(read(b"agent:main:Zo\xeb"), None, "Latin-1 would be another key");
        assert_eq!(read("agent:main:\u{86}".as_bytes()), None);
    }

    #[test]
    fn long_and_odd_names_become_their_hash() {
        let long = "u".repeat(MAX_NAME + 1);
        for odd in [long.as_str(), "two words", "ünï", "line\nbreak"] {
            let found = key(Some(odd), &[]).unwrap();
            assert!(found.starts_with("agent:main:user:sha256-"), "{found}");
            assert_eq!(found.len(), "agent:main:user:sha256-".len() + 32);
            assert_eq!(Some(found), key(Some(odd), &[]), "and stay the same");
        }
        assert_ne!(key(Some("two words"), &[]), key(Some("two  words"), &[]));
        let longest = "u".repeat(MAX_NAME);
        assert_eq!(
            key(Some(&longest), &[]),
            Some(format!("agent:main:user:{longest}"))
        );
    }
}
