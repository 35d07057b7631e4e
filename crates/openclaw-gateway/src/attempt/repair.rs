//! The one repair that the gateway makes (R4): tool-call ids that a provider refuses are rewritten, all of them alike.

mod scan;

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use indexmap::IndexSet;
use openclaw_classify::{Failure, describe};
use serde_json::Value;
use sha2::{Digest, Sha256};

use openclaw_wire::{RequestBody, WireFormat};

/// Words of a refusal, and the ids that such a provider accepts. The first row whose words are all in the text counts.
struct Pattern {
    words: &'static [&'static str],
    fits: fn(&str) -> bool,
}

#[rustfmt::skip]
static PATTERNS: &[Pattern] = &[
    Pattern { words: &["length of 9"],           fits: is_nine },
    Pattern { words: &["{9}"],                   fits: is_nine },
    Pattern { words: &["maximum length 40"],     fits: |id| is_plain(id) && id.len() <= 40 },
    Pattern { words: &["maximum length of 40"],  fits: |id| is_plain(id) && id.len() <= 40 },
    Pattern { words: &["pattern"],               fits: |id| is_plain(id) && id.len() <= 64 },
    Pattern { words: &["too long"],              fits: |id| is_plain(id) && id.len() <= 40 },
    Pattern { words: &["maximum length"],        fits: |id| is_plain(id) && id.len() <= 40 },
    Pattern { words: &["invalid"],               fits: |id| is_plain(id) && id.len() <= 40 },
    Pattern { words: &["must be"],               fits: |id| is_plain(id) && id.len() <= 40 },
];

/// Names of a tool-call id in refusals.
const NAMES: &[&str] = &[
    "call_id",
    "tool_use.id",
    "tool_use_id",
    "tool call id",
    "tool use id",
    "toolcallid",
    "tool_calls[",
    "tool_calls.",
];

/// Characters of a new id: few enough, and of the kinds, that every known pattern accepts it.
const LENGTH: usize = 9;
/// How many names are tried for an id before it stays as it is; two are more than ever needed.
const SALTS: u32 = 1_000;
const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

fn is_plain(id: &str) -> bool {
    !id.is_empty()
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn is_nine(id: &str) -> bool {
    id.len() == LENGTH && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The request with other tool-call ids, when `failure` refuses some of them; every other byte stays.
pub(crate) fn repaired(body: &RequestBody, wire: WireFormat, failure: &Failure) -> Option<RequestBody> {
    let pattern = refused_pattern(failure)?;
    let request: Value = serde_json::from_slice(body.bytes()).ok()?;
    let ids = wire.tool_call_ids(&request).into_iter().collect();
    let new = renamed(&ids, pattern.fits)?;
    let rewritten = scan::with_ids(body.bytes(), &new);
    RequestBody::try_new(Bytes::from(rewritten)).ok()
}

fn refused_pattern(failure: &Failure) -> Option<&'static Pattern> {
    let body = failure
        .body
        .as_deref()
        .map(String::from_utf8_lossy)
        .unwrap_or_default();
    let text = format!("{} {body}", describe(failure)).to_lowercase();
    if !NAMES.iter().any(|name| text.contains(name)) {
        return None;
    }
    PATTERNS
        .iter()
        .find(|row| row.words.iter().all(|words| text.contains(words)))
}

/// New ids for those that do not fit; none when all do. An id always becomes the same one, so that the next turn of the
/// conversation says the same.
fn renamed(ids: &IndexSet<&str>, fits: fn(&str) -> bool) -> Option<HashMap<String, String>> {
    let (mut new, mut taken) = (HashMap::new(), HashSet::new());
    for id in ids.iter().filter(|id| !fits(id)) {
        let name = (0..SALTS)
            .map(|salt| name(id, salt))
            .find(|name| !ids.contains(name.as_str()) && !taken.contains(name))?;
        taken.insert(name.clone());
        new.insert((*id).to_owned(), name);
    }
    (!new.is_empty()).then_some(new)
}

fn name(id: &str, salt: u32) -> String {
    let digest = Sha256::new()
        .chain_update(salt.to_be_bytes())
        .chain_update(id.as_bytes())
        .finalize();
    let letter = |byte: &u8| char::from(LETTERS[usize::from(*byte) % LETTERS.len()]);
    digest.iter().take(LENGTH).map(letter).collect()
}

#[cfg(test)]
mod tests;
