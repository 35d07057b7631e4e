//! Lone surrogates in JSON: escapes such as `\ud83d` that name one half of a character. Servers that cut texts by UTF-16
//! units put them at the ends of stream events; clients join the events again, so they are no mistake.

use serde_json::Value;

/// The same JSON with a replacement character for each lone surrogate; none when there is none.
pub(crate) fn replace_lone_surrogates(json: &str) -> Option<String> {
    let (mut whole, mut copied, mut at) = (String::new(), 0, 0);
    while let Some(found) = json.get(at..).and_then(|rest| rest.find('\\')) {
        let here = at + found;
        let next = || json.get(here + 6..).and_then(escaped);
        match json.get(here..).and_then(escaped) {
            Some(0xD800..=0xDBFF) if matches!(next(), Some(0xDC00..=0xDFFF)) => at = here + 12,
            Some(0xD800..=0xDFFF) => {
                whole.push_str(&json[copied..here]);
                whole.push_str("\\ufffd");
                at = here + 6;
                copied = at;
            }
            Some(_) | None => at = here + 2,
        }
    }
    if copied == 0 {
        return None;
    }
    whole.push_str(&json[copied..]);
    Some(whole)
}

/// The JSON value of `bytes`, with lone surrogates replaced.
pub(crate) fn value_of(bytes: &[u8]) -> Option<Value> {
    let read = serde_json::from_slice(bytes).ok();
    read.or_else(|| serde_json::from_str(&replace_lone_surrogates(std::str::from_utf8(bytes).ok()?)?).ok())
}

/// The UTF-16 unit of the escape that `text` begins with.
fn escaped(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lone_surrogates_are_replaced() {
        for (json, expected) in [
            (r#""a""#, None),
            (r#""\ud83d\ude00""#, None),
            (r#""\\ud83d""#, None),
            (r#""\"\u00e9\n""#, None),
            (r#""\ud83d""#, Some(r#""\ufffd""#)),
            (r#""a\ude00b""#, Some(r#""a\ufffdb""#)),
            (r#""\\\uD83Dé""#, Some(r#""\\\ufffdé""#)),
            (r#""\ud83d\ud83d\ude00""#, Some(r#""\ufffd\ud83d\ude00""#)),
            (r#""\ude00\ud83d""#, Some(r#""\ufffd\ufffd""#)),
            (r#""\ud83d\u0041""#, Some(r#""\ufffd\u0041""#)),
            ("\\ud8", None),
            ("\\é\\", None),
        ] {
            assert_eq!(replace_lone_surrogates(json).as_deref(), expected, "{json}");
        }
    }
}
