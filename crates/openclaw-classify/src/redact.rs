//! Masking of secrets and account names in text (decision M2, beyond.md BL-84, runner.md R-12.3).

mod preview;

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::{Captures, Regex};

use crate::text::constant_regex::compile;

pub use preview::preview;

/// The replacement of a value of which nothing is shown.
const HIDDEN: &str = "***";
/// Nothing is shown of values with fewer characters.
const MIN_SHOWN: usize = 18;

/// What is masked, in order: words one of which is in every match, and the regular expression. The group `secret` is
/// masked and the rest of the match stays; the group `hidden` is replaced completely (auth-store.md Z5).
#[rustfmt::skip]
const PATTERNS: &[(&[&str], &str)] = &[
    // Private keys.
    (&["private key"], r"(?s)(?P<secret>-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$))"),
    // Keys and tokens with a prefix of their own.
    (&["sk-", "pk-", "rk-", "ak-", "xai-", "gsk_", "gsk-", "tgp_", "fw_", "nvapi-", "csk-", "r8_", "hf_", "pplx-", "key-", "glpat-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "npm_", "dop_v1_", "sess-", "rt_", "at_", "oat_", "api-", "api_", "sk_", "pk_", "rk_"], r"\b(?P<secret>(?:sk|pk|rk|ak|xai|gsk|tgp|fw|nvapi|csk|r8|hf|pplx|key|glpat|ghp|gho|ghu|ghs|ghr|github_pat|xox[abeoprs]|npm|dop_v1|sess|rt|at|oat|api)[-_][A-Za-z0-9_.*-]{12,})"),
    (&["akia", "asia", "aroa", "aida"], r"\b(?P<secret>(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{12,})"),
    (&["aiza"], r"(?P<secret>AIza[A-Za-z0-9_-]{10,})"),
    (&["ya29."], r"\b(?P<secret>ya29\.[A-Za-z0-9_.-]{10,})"),
    (&["eyj"], r"\b(?P<secret>eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+){0,2})"),
    (&["gaaaa"], r"\b(?P<secret>gAAAA[A-Za-z0-9_=-]{12,})"),
    // Headers.
    (&["bearer", "basic"], r"(?i)\b(?:bearer|basic)\s+(?P<secret>[A-Za-z0-9._~+/=-]{6,})"),
    (&["cookie"], r"(?i)\b(?:cookie|set-cookie)\s*:\s*(?P<secret>[^\r\n]+)"),
    // Values of links and forms.
    (&["key=", "secret=", "token=", "passw", "signature=", "sig=", "code=", "auth=", "credential="], r"(?i)[?&](?:[a-z0-9_-]*(?:key|secret|token|password|passwd|signature|credential)|sig|code|auth)=(?P<hidden>[^&\s#\x22'`<>\\]+)"),
    // Assignments, in JSON and in prose.
    (&["key", "secret", "token", "passw", "authorization", "signature", "credential"], r#"(?i)(?:api[_-]?key|apikey|x-api-key|x-goog-api-key|access[_-]?key(?:[_-]?id)?|secret(?:[_-]?key|[_-]?access[_-]?key)?|client[_-]?secret|access[_-]?token|refresh[_-]?token|id[_-]?token|auth[_-]?token|session[_-]?token|token|password|passwd|authorization|signature|credential)s?\\*["']?\s*(?:=|:)\s*\\*["']?(?:bearer\s+)?(?P<secret>[A-Za-z0-9._~+/=*%-]{6,})"#),
    (&["key"], r"(?i)\bkey\s*=\s*(?P<secret>[A-Za-z0-9._~+/=*%-]{6,})"),
    (&["://"], r"://(?P<secret>[^/\s:@]+:[^/\s@]+)@"),
    (&["key", "token"], r"(?i)\b(?:api key|key|token)(?: provided)?:\s*(?P<secret>[A-Za-z0-9][A-Za-z0-9._~+/=*-]{11,})"),
    // People and accounts.
    (&["@"], r"(?P<secret>[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)"),
    (&["org", "proj", "user", "acct", "account", "team", "cus", "usr", "wrkspc", "workspace", "ws", "tenant"], r"\b(?P<secret>(?:org|proj|user|acct|account|team|cus|usr|wrkspc|workspace|ws|tenant)[-_][A-Za-z0-9]{6,})"),
    (&["account", "organi", "org", "team", "tenant", "workspace", "project", "user", "subscription"], r"(?i)\b(?:account|organization|organisation|org|team|tenant|workspace|project|user|subscription)(?:[ _-]?id)?[ \t]*(?::|=|#)?[ \t]*[`'\x22<]?(?P<secret>(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})|\d{9,})"),
    (&["arn:aws"], r"(?P<secret>arn:aws[a-z-]*:[^\s,;]+)"),
];

/// The regular expressions, and an automaton that finds in one pass which of them can match.
struct Masks {
    words: AhoCorasick,
    pattern_of_word: Vec<usize>,
    /// Compiled on first use.
    patterns: Vec<OnceLock<Regex>>,
}

static MASKS: LazyLock<Masks> = LazyLock::new(|| {
    let words = PATTERNS
        .iter()
        .enumerate()
        .flat_map(|(index, (words, _))| words.iter().map(move |word| (index, *word)));
    let (pattern_of_word, words): (Vec<usize>, Vec<&str>) = words.unzip();
    #[expect(
        clippy::expect_used,
        reason = "the table is a constant that the tests compile"
    )]
    Masks {
        words: AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(words)
            .expect("some constant words fit an automaton"),
        pattern_of_word,
        patterns: PATTERNS.iter().map(|_| OnceLock::new()).collect(),
    }
});

/// `text` with keys, tokens, passwords, mail addresses, account and organization ids masked.
///
/// A masked value of 18 or more characters keeps its first six and last four, so that people recognise which key it
/// was; a shorter one becomes `***`, and so does a secret in a URL query or form (auth-store.md Z5).
pub fn redact(text: &str) -> String {
    let mut relevant = [false; PATTERNS.len()];
    for word in MASKS.words.find_overlapping_iter(text) {
        relevant[MASKS.pattern_of_word[word.pattern().as_usize()]] = true;
    }
    let mut out = Cow::Borrowed(text);
    for (index, _) in relevant.iter().enumerate().filter(|(_, relevant)| **relevant) {
        let pattern = MASKS.patterns[index].get_or_init(|| compile(PATTERNS[index].1));
        if let Cow::Owned(masked) = pattern.replace_all(&out, mask_match) {
            out = Cow::Owned(masked);
        }
    }
    out.into_owned()
}

fn mask_match(found: &Captures<'_>) -> String {
    let whole = found.get(0);
    let secret = found.name("secret").map(|secret| (secret, mask(secret.as_str())));
    let hidden = || found.name("hidden").map(|hidden| (hidden, HIDDEN.to_owned()));
    match (whole, secret.or_else(hidden)) {
        (Some(whole), Some((secret, shown))) => {
            let text = whole.as_str();
            let (start, end) = (secret.start() - whole.start(), secret.end() - whole.start());
            format!("{}{shown}{}", &text[..start], &text[end..])
        }
        (whole, None) => whole.map_or_else(String::new, |whole| whole.as_str().to_owned()),
        (None, Some(_)) => String::new(),
    }
}

fn mask(secret: &str) -> String {
    let length = secret.chars().count();
    if secret.contains('…') || length < MIN_SHOWN {
        return HIDDEN.to_owned();
    }
    let head: String = secret.chars().take(6).collect();
    let tail: String = secret.chars().skip(length - 4).collect();
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests;
