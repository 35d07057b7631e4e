//! The auth profile at the end of a model text (chain.md 3.1).

/// Splits `model@profile`; the profile is `None` when the text names none.
///
/// An `@` before the last `/` belongs to the model, and so do one version of eight digits and one quantisation
/// tag right after an `@`. Both halves are trimmed; when one would be empty the text stays whole.
///
/// ```
/// use openclaw_chain::split_profile;
///
/// assert_eq!(split_profile("openai/gpt-5.5@openai:work"), ("openai/gpt-5.5", Some("openai:work")));
/// assert_eq!(split_profile("ollama/qwen@q4_0"), ("ollama/qwen@q4_0", None));
/// ```
pub fn split_profile(text: &str) -> (&str, Option<&str>) {
    let text = text.trim();
    let start = text.rfind('/').map_or(0, |slash| slash + 1);
    let halves = delimiter(text, start).map(|at| (text[..at].trim(), text[at + 1..].trim()));
    match halves {
        Some((model, profile)) if !model.is_empty() && !profile.is_empty() => (model, Some(profile)),
        _ => (text, None),
    }
}

/// The `@` that starts the profile.
fn delimiter(text: &str, start: usize) -> Option<usize> {
    let mut at = next_at(text, start).filter(|at| *at > 0)?;
    if is_tag(&text[at + 1..], version) {
        at = next_at(text, at + 1)?;
    }
    if is_tag(&text[at + 1..], quantisation) {
        at = next_at(text, at + 1)?;
    }
    Some(at)
}

fn next_at(text: &str, from: usize) -> Option<usize> {
    text[from..].find('@').map(|at| from + at)
}

/// Whether `rest` begins with something `tag` recognises, followed by the end or the next `@`.
fn is_tag(rest: &str, tag: fn(&str) -> bool) -> bool {
    tag(rest.split_once('@').map_or(rest, |(head, _)| head))
}

fn version(text: &str) -> bool {
    text.len() == 8 && text.bytes().all(|b| b.is_ascii_digit())
}

/// `q` or `iq`, digits and any number of `_alnum` groups (`q4_k_m`), or digits and `bit` (`8bit`).
fn quantisation(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if let Some(count) = lower.strip_suffix("bit") {
        return digits(count);
    }
    let Some(rest) = lower.strip_prefix("iq").or_else(|| lower.strip_prefix('q')) else {
        return false;
    };
    let mut groups = rest.split('_');
    groups.next().is_some_and(digits)
        && groups.all(|group| !group.is_empty() && group.bytes().all(|b| b.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_3_1() {
        for (text, model, profile) in [
            (
                "openai/gpt-5.5@openai:work",
                "openai/gpt-5.5",
                Some("openai:work"),
            ),
            (
                "openai/gpt@openai:me@x.com",
                "openai/gpt",
                Some("openai:me@x.com"),
            ),
            ("fast@work", "fast", Some("work")),
            ("@x", "@x", None),
            ("a/b@", "a/b@", None),
            ("a/b@prof/x", "a/b@prof/x", None),
            ("m@20250514", "m@20250514", None),
            ("m@20250514@p", "m@20250514", Some("p")),
            ("m@20250514x", "m", Some("20250514x")),
            ("ollama/q@q4_0", "ollama/q@q4_0", None),
            ("ollama/q@8bit", "ollama/q@8bit", None),
            ("ollama/q@iq3_xxs@p", "ollama/q@iq3_xxs", Some("p")),
            ("m@20250514@q4_0@p", "m@20250514@q4_0", Some("p")),
            ("a/@b", "a/", Some("b")),
            // Beyond the printed rows: case, spaces, tags that are none, multi-byte text.
            ("  fast @ work ", "fast", Some("work")),
            ("m@Q4_K_M", "m@Q4_K_M", None),
            ("m@4BIT@p", "m@4BIT", Some("p")),
            ("m@q", "m", Some("q")),
            ("m@q4__0", "m", Some("q4__0")),
            ("m@bit", "m", Some("bit")),
            ("m@2025051", "m", Some("2025051")),
            ("m@20250514@20250515", "m@20250514", Some("20250515")),
            (
                "cloudflare/@cf/meta/llama@x",
                "cloudflare/@cf/meta/llama",
                Some("x"),
            ),
            ("modèle@équipe", "modèle", Some("équipe")),
            ("", "", None),
        ] {
            assert_eq!(split_profile(text), (model, profile), "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn the_model_half_is_a_trimmed_prefix_of_the_text(text in "[a-z/@ 0-9_é]{0,20}") {
            let (model, profile) = split_profile(&text);
            proptest::prop_assert!(text.trim().starts_with(model));
            proptest::prop_assert!(profile.is_none_or(|profile| text.trim().ends_with(profile) && !model.is_empty()));
        }
    }
}
