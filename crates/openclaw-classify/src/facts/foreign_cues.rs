//! Words of other languages than English that introduce the end of a limit.

/// How much of a text is searched, in bytes.
const MAX_TEXT: usize = 1024;

/// Words of other languages that say that a limit ends; those of English are the cues.
#[rustfmt::skip]
const OTHER_CUES: &[&str] = &[
    "zurückgesetzt", "zurücksetz", "erneut", "wieder", "réinitialis", "réessay", "restablec", "restaur", "reinici",
    "renueva", "disponib", "redefinid", "novamente", "nuevo", "verfügbar", "nouveau", "重置", "恢复", "重试", "刷新", "可用",
    "リセット", "再試行", "初期化", "재설정", "다시",
];

/// Whether a text in another language than English may say when a limit ends.
pub(crate) fn may_state_end(text: &str) -> bool {
    !text.is_ascii() && text.bytes().any(|byte| byte.is_ascii_digit()) && {
        let lower = text[..text.floor_char_boundary(MAX_TEXT)].to_lowercase();
        OTHER_CUES.iter().any(|cue| lower.contains(cue))
    }
}
