//! Replaces lone UTF-16 surrogates: a program that counts in UTF-16 writes one when it cuts a text inside an emoji.

/// The code of every replacement, as long as what it replaces, so that error positions stay right.
const REPLACEMENT: &str = "\\ufffd";

/// The JSON text with every escaped half of a character replaced; whole ones stay.
pub(super) fn mend_surrogates(text: &str) -> String {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        mended.push_str(before);
        let (len, whole) = match (half(escape), escape.get(6..).and_then(half)) {
            (Some(SurrogateHalf::High), Some(SurrogateHalf::Low)) => (12, true),
            (Some(_), _) => (6, false),
            // The escaped character goes along, so that a second backslash begins nothing.
            (None, _) => (1 + escape.chars().nth(1).map_or(0, char::len_utf8), true),
        };
        let (escape, behind) = escape.split_at(len);
        mended.push_str(if whole { escape } else { REPLACEMENT });
        rest = behind;
    }
    mended.push_str(rest);
    mended
}

#[derive(Clone, Copy)]
enum SurrogateHalf {
    High,
    Low,
}

/// The half of a character that `text` begins with, if it does.
fn half(text: &str) -> Option<SurrogateHalf> {
    let code = text.strip_prefix("\\u")?.get(..4)?;
    match u16::from_str_radix(code, 16).ok()? {
        0xd800..=0xdbff => Some(SurrogateHalf::High),
        0xdc00..=0xdfff => Some(SurrogateHalf::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_halves_are_replaced() {
        for (text, mended) in [
            (r#""plain""#, r#""plain""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""cut \ud83d""#, r#""cut \ufffd""#),
            (r#""\uDE00 rest""#, r#""\ufffd rest""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""a backslash \\ud83d""#, r#""a backslash \\ud83d""#),
            (r#""\n\u00e4\"""#, r#""\n\u00e4\"""#),
            ("a lone \\", "a lone \\"),
            ("\\ud83", "\\ud83"),
            ("\\\u{e4}", "\\\u{e4}"),
        ] {
            assert_eq!(mend_surrogates(text), mended);
        }
    }

    proptest! {
        #[test]
        fn any_text_keeps_its_length_and_is_mended_once(text in r#"([\\u"a]|d83d|de00|\u{e4})*"#) {
            let mended = mend_surrogates(&text);
            prop_assert_eq!(mended.len(), text.len());
            prop_assert_eq!(mend_surrogates(&mended), mended);
        }
    }
}
