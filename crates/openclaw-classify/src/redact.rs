//! Takes secrets and account names out of text (decision M2, beyond.md BL-84, runner.md R-12.3).

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Masked values below this many characters show nothing of themselves.
const SHORT: usize = 18;

/// What is masked, in order. The group `secret` is replaced, the rest of the match stays.
#[rustfmt::skip]
const PATTERNS: &[&str] = &[
    // Private keys.
    r"(?s)(?P<secret>-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$))",
    // Keys and tokens with a prefix of their own.
    r"\b(?P<secret>(?:sk|pk|rk|ak|xai|gsk|tgp|fw|nvapi|csk|r8|hf|pplx|key|glpat|ghp|gho|ghu|ghs|ghr|github_pat|xox[abeoprs]|npm|dop_v1|sess|rt|at|oat|api)[-_][A-Za-z0-9_.*-]{12,})",
    r"\b(?P<secret>(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{12,})",
    r"(?P<secret>AIza[A-Za-z0-9_-]{10,})",
    r"\b(?P<secret>ya29\.[A-Za-z0-9_.-]{10,})",
    r"\b(?P<secret>eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+){0,2})",
    r"\b(?P<secret>gAAAA[A-Za-z0-9_=-]{12,})",
    // Headers.
    r"(?i)\b(?:bearer|basic)\s+(?P<secret>[A-Za-z0-9._~+/=-]{6,})",
    r"(?i)\b(?:cookie|set-cookie)\s*:\s*(?P<secret>[^\r\n]+)",
    // Assignments, in links, in JSON and in prose.
    r#"(?i)(?:api[_-]?key|apikey|x-api-key|x-goog-api-key|access[_-]?key(?:[_-]?id)?|secret(?:[_-]?key|[_-]?access[_-]?key)?|client[_-]?secret|access[_-]?token|refresh[_-]?token|id[_-]?token|auth[_-]?token|session[_-]?token|token|password|passwd|authorization|signature|credential)s?\\*["']?\s*(?:=|:)\s*\\*["']?(?:bearer\s+)?(?P<secret>[A-Za-z0-9._~+/=*%-]{6,})"#,
    r"(?i)[?&](?:key|sig|code|auth)=(?P<secret>[^&\s#]{4,})",
    r"(?i)\bkey\s*=\s*(?P<secret>[A-Za-z0-9._~+/=*%-]{6,})",
    r"://(?P<secret>[^/\s:@]+:[^/\s@]+)@",
    r"(?i)\b(?:api key|key|token)(?: provided)?:\s*(?P<secret>[A-Za-z0-9][A-Za-z0-9._~+/=*-]{11,})",
    // People and accounts.
    r"(?P<secret>[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)",
    r"\b(?P<secret>(?:org|proj|user|acct|account|team|cus|usr|wrkspc|workspace|ws|tenant)[-_][A-Za-z0-9]{6,})",
    r"(?i)\b(?:account|organization|organisation|org|team|tenant|workspace|project|user|subscription)(?:[ _-]?id)?[ \t]*(?::|=|#)?[ \t]*[`'\x22<]?(?P<secret>(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})|\d{9,})",
    r"(?P<secret>arn:aws[a-z-]*:[^\s,;]+)",
];

static COMPILED: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    #[expect(
        clippy::expect_used,
        reason = "the patterns are constants that the tests compile"
    )]
    let compile = |pattern: &&str| Regex::new(pattern).expect("a constant pattern compiles");
    PATTERNS.iter().map(compile).collect()
});

/// `text` with keys, tokens, passwords, mail addresses, account and organization ids masked.
///
/// A masked value of 18 or more characters keeps its first six and last four, so that people recognise which key it
/// was; a shorter one becomes `***`.
pub fn redact(text: &str) -> String {
    let mut out = Cow::Borrowed(text);
    for pattern in COMPILED.iter() {
        if let Cow::Owned(masked) = pattern.replace_all(&out, mask_match) {
            out = Cow::Owned(masked);
        }
    }
    out.into_owned()
}

fn mask_match(found: &Captures<'_>) -> String {
    let whole = found.get(0);
    let secret = found.name("secret");
    match (whole, secret) {
        (Some(whole), Some(secret)) => {
            let text = whole.as_str();
            let (start, end) = (secret.start() - whole.start(), secret.end() - whole.start());
            format!("{}{}{}", &text[..start], mask(secret.as_str()), &text[end..])
        }
        (whole, _) => whole.map_or_else(String::new, |whole| whole.as_str().to_owned()),
    }
}

fn mask(secret: &str) -> String {
    let length = secret.chars().count();
    if secret.contains('…') || length < SHORT {
        return "***".to_owned();
    }
    let head: String = secret.chars().take(6).collect();
    let tail: String = secret.chars().skip(length - 4).collect();
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests;
