//! Parses the lines of a `.env` file.

/// The variables of `text` in their order. A line that sets none is passed over.
pub(super) fn variables(text: &str) -> impl Iterator<Item = (&str, String)> {
    text.lines().filter_map(variable)
}

fn variable(line: &str) -> Option<(&str, String)> {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end();
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then(|| (name, unquoted(value.trim())))
}

/// A value without its quotes or a comment after it.
fn unquoted(value: &str) -> String {
    for quote in ['"', '\''] {
        if let Some((inner, _)) = value.strip_prefix(quote).and_then(|rest| rest.split_once(quote)) {
            return inner.to_owned();
        }
    }
    let end = value.find(" #").unwrap_or(value.len());
    value[..end].trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_every_kind() {
        let text = "# keys\nA=1\nexport B = two words # why\nC=\"a # b\"\nD='x' # y\n\nE=\nF=a=b\n=g\n2H=1\nno line\n";
        let found: Vec<_> = variables(text).collect();
        let expected = [
            ("A", "1"),
            ("B", "two words"),
            ("C", "a # b"),
            ("D", "x"),
            ("E", ""),
            ("F", "a=b"),
        ];
        assert_eq!(found, expected.map(|(name, value)| (name, value.to_owned())));
    }
}
