//! Which modules at a crate's root a source file uses, read from its paths `crate::…` and `super::…`.

use std::collections::BTreeMap;

/// One word or sign of Rust source, without comments and literals, and the line it stands in (from 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Token<'a> {
    text: &'a str,
    line: usize,
}

/// A use of a module at the crate's root.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RootUse {
    /// The first segment behind `crate`.
    pub(crate) name: String,
    /// Counted from 1.
    pub(crate) line: usize,
}

/// The uses of root modules in `text`, a file that is `depth` modules below the crate's root (`foo.rs` is 1, `foo/bar.rs` is
/// 2). What only tests compile is passed over.
pub(crate) fn root_uses(text: &str, depth: usize) -> Vec<RootUse> {
    let tokens = without_tests(&tokens(text));
    let mut uses = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match tokens[at].text {
            "crate" => {
                heads(&tokens, at + 1, &mut uses);
                at += 1;
            }
            "super" => {
                let mut supers = 1;
                while text_at(&tokens, at + 1) == "::" && text_at(&tokens, at + 2) == "super" {
                    supers += 1;
                    at += 2;
                }
                if supers == depth {
                    heads(&tokens, at + 1, &mut uses);
                }
                at += 1;
            }
            _ => at += 1,
        }
    }
    uses
}

/// What a crate's `lib.rs` or `main.rs` re-exports, by name: the root module that it comes from.
pub(crate) fn re_exports(text: &str) -> BTreeMap<String, String> {
    let tokens = without_tests(&tokens(text));
    let mut origins = BTreeMap::new();
    for (at, _) in tokens.iter().enumerate().filter(|(_, token)| token.text == "use") {
        let mut first = at + 1;
        while matches!(text_at(&tokens, first), "crate" | "self" | "::") {
            first += 1;
        }
        let module = text_at(&tokens, first);
        for name in tokens[first..]
            .iter()
            .take_while(|token| token.text != ";")
            .skip(1)
        {
            if is_word(name.text) {
                origins.insert(name.text.to_owned(), module.to_owned());
            }
        }
    }
    origins
}

/// The names of the modules that a crate's root declares, without those that only tests compile.
pub(crate) fn declared_modules(text: &str) -> Vec<String> {
    let tokens = without_tests(&tokens(text));
    let declared = tokens.windows(3).filter(|words| {
        words[0].text == "mod" && is_word(words[1].text) && matches!(words[2].text, ";" | "{")
    });
    declared.map(|words| words[1].text.to_owned()).collect()
}

/// The first segments of the paths that start behind `at`, where `::` stands: one, or those of a group.
fn heads(tokens: &[Token<'_>], at: usize, uses: &mut Vec<RootUse>) {
    if text_at(tokens, at) != "::" {
        return;
    }
    let Some(first) = tokens.get(at + 1) else { return };
    if is_word(first.text) {
        uses.push(RootUse {
            name: first.text.to_owned(),
            line: first.line,
        });
        return;
    }
    if first.text != "{" {
        return;
    }
    let mut depth = 1;
    let mut starts = true;
    for token in &tokens[at + 2..] {
        match token.text {
            "{" => depth += 1,
            "}" if depth == 1 => return,
            "}" => depth -= 1,
            "," if depth == 1 => starts = true,
            word => {
                if starts && depth == 1 && is_word(word) {
                    uses.push(RootUse {
                        name: word.to_owned(),
                        line: token.line,
                    });
                }
                starts = false;
            }
        }
    }
}

fn text_at<'a>(tokens: &[Token<'a>], at: usize) -> &'a str {
    tokens.get(at).map_or("", |token| token.text)
}

fn is_word(text: &str) -> bool {
    text.starts_with(|first: char| first == '_' || first.is_alphabetic())
}

/// The same without every item behind `#[cfg(test)]`, alone or with further conditions that must hold as well.
fn without_tests<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let mut kept = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        if let Some(end) = attribute(tokens, at)
            && only_for_tests(&tokens[at..end])
        {
            at = item_end(tokens, end);
            continue;
        }
        kept.push(tokens[at]);
        at += 1;
    }
    kept
}

/// Where the attribute that starts at `at` ends, when one does.
fn attribute(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    if text_at(tokens, at) != "#" || text_at(tokens, at + 1) != "[" {
        return None;
    }
    let mut depth = 0;
    for (index, token) in tokens.iter().enumerate().skip(at + 1) {
        match token.text {
            "[" => depth += 1,
            "]" => {
                depth -= 1;
                if depth == 0 {
                    return Some(index + 1);
                }
            }
            _ => {}
        }
    }
    None
}

fn only_for_tests(attribute: &[Token<'_>]) -> bool {
    let has = |word| attribute.iter().any(|token| token.text == word);
    text_at(attribute, 2) == "cfg" && has("test") && !has("any") && !has("not")
}

/// Where the item ends whose attributes, or whose first word, stand at `at`.
fn item_end(tokens: &[Token<'_>], mut at: usize) -> usize {
    while let Some(end) = attribute(tokens, at) {
        at = end;
    }
    let is_use = tokens[at..]
        .iter()
        .take_while(|token| !matches!(token.text, "{" | ";"))
        .any(|token| token.text == "use");
    let mut depth = 0;
    for (index, token) in tokens.iter().enumerate().skip(at) {
        match token.text {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => {
                depth -= 1;
                if depth == 0 && token.text == "}" && !is_use {
                    return index + 1;
                }
            }
            ";" if depth == 0 => return index + 1,
            _ => {}
        }
    }
    tokens.len()
}

/// Words, `::` and single signs; comments, texts and numbers are left out.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut line = 1;
    while let Some(first) = rest.chars().next() {
        let length = skipped(rest).unwrap_or_else(|| {
            let length = token_length(rest, first);
            if !first.is_whitespace() {
                found.push(Token {
                    text: &rest[..length],
                    line,
                });
            }
            length
        });
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    found
}

fn token_length(rest: &str, first: char) -> usize {
    if rest.starts_with("::") {
        return 2;
    }
    if is_word(rest) {
        let is_part = |next: char| next == '_' || next.is_alphanumeric();
        return rest.find(|next| !is_part(next)).unwrap_or(rest.len());
    }
    first.len_utf8()
}

/// How long the comment or literal at the start of `rest` is, when one starts there.
fn skipped(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return Some(rest.find("*/").map_or(rest.len(), |end| end + 2));
    }
    let literal = rest.trim_start_matches(['b', 'c']);
    let prefix = rest.len() - literal.len();
    if prefix <= 1
        && let Some(raw) = literal.strip_prefix('r')
    {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            let close = format!("\"{}", "#".repeat(hashes));
            let body = prefix + 1 + hashes + 1;
            return Some(
                rest[body..]
                    .find(&close)
                    .map_or(rest.len(), |end| body + end + close.len()),
            );
        }
    }
    if prefix <= 1 && literal.starts_with('"') {
        return Some(quoted(bytes, prefix + 1, b'"'));
    }
    if bytes[0] == b'\'' {
        // A lifetime has no closing quote behind one character.
        let closes = rest[1..].chars().nth(1) == Some('\'') || rest.starts_with("'\\");
        return closes.then(|| quoted(bytes, 1, b'\''));
    }
    bytes[0].is_ascii_digit().then(|| {
        rest.find(|next: char| !next.is_alphanumeric() && next != '_')
            .unwrap_or(rest.len())
    })
}

/// Where the quoted text that starts before `at` ends, behind its closing quote.
fn quoted(bytes: &[u8], mut at: usize, quote: u8) -> usize {
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests;
