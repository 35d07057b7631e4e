//! A unified difference of two short texts, for people.

/// Lines shown around each change.
const CONTEXT: usize = 3;

/// What became of a line between the old and the new text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line<'a> {
    Added(&'a str),
    Kept(&'a str),
    Removed(&'a str),
}

/// The changed lines with their surroundings, each hunk under an `@@ -old +new @@` line; empty for equal texts.
pub(crate) fn unified(old: &str, new: &str) -> String {
    let lines = compare(&old.lines().collect::<Vec<_>>(), &new.lines().collect::<Vec<_>>());
    let changed: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| !matches!(line, Line::Kept(_)))
        .map(|(at, _)| at)
        .collect();
    let mut shown = Vec::new();
    let (mut old_line, mut new_line, mut shown_to) = (1, 1, 0);
    for (at, line) in lines.iter().enumerate() {
        let near = changed.iter().any(|change| change.abs_diff(at) <= CONTEXT);
        if near {
            if at == 0 || shown_to != at {
                shown.push(format!("@@ -{old_line} +{new_line} @@"));
            }
            let (mark, words) = match line {
                Line::Added(words) => ('+', words),
                Line::Kept(words) => (' ', words),
                Line::Removed(words) => ('-', words),
            };
            shown.push(format!("{mark}{words}"));
            shown_to = at + 1;
        }
        match line {
            Line::Added(_) => new_line += 1,
            Line::Removed(_) => old_line += 1,
            Line::Kept(_) => {
                old_line += 1;
                new_line += 1;
            }
        }
    }
    if shown.is_empty() {
        String::new()
    } else {
        shown.join("\n") + "\n"
    }
}

/// Longest common subsequence over what is left after the equal head and tail.
fn compare<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    let head = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tail = old_rest
        .iter()
        .rev()
        .zip(new_rest.iter().rev())
        .take_while(|(old, new)| old == new)
        .count();
    let (old_mid, new_mid) = (
        &old_rest[..old_rest.len() - tail],
        &new_rest[..new_rest.len() - tail],
    );

    // common[i][j]: length of the longest common subsequence of old_mid[i..] and new_mid[j..].
    let mut common = vec![vec![0_u32; new_mid.len() + 1]; old_mid.len() + 1];
    for (i, old) in old_mid.iter().enumerate().rev() {
        for (j, new) in new_mid.iter().enumerate().rev() {
            common[i][j] = if old == new {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }

    let mut lines: Vec<Line<'a>> = old[..head].iter().map(|line| Line::Kept(line)).collect();
    let (mut i, mut j) = (0, 0);
    while i < old_mid.len() || j < new_mid.len() {
        if i < old_mid.len() && j < new_mid.len() && old_mid[i] == new_mid[j] {
            lines.push(Line::Kept(old_mid[i]));
            i += 1;
            j += 1;
        } else if j == new_mid.len() || (i < old_mid.len() && common[i + 1][j] >= common[i][j + 1]) {
            lines.push(Line::Removed(old_mid[i]));
            i += 1;
        } else {
            lines.push(Line::Added(new_mid[j]));
            j += 1;
        }
    }
    lines.extend(
        old_rest[old_rest.len() - tail..]
            .iter()
            .map(|line| Line::Kept(line)),
    );
    lines
}

#[cfg(test)]
mod tests {
    use super::unified;

    #[test]
    fn equal_texts_have_no_difference() {
        assert_eq!(unified("a\nb\n", "a\nb\n"), "");
        assert_eq!(unified("", ""), "");
    }

    #[test]
    fn a_changed_line_is_shown_with_its_surroundings() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n";
        assert_eq!(
            unified(old, new),
            "@@ -2 +2 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
        );
    }

    #[test]
    fn distant_changes_are_separate_hunks_with_both_line_numbers() {
        let old = (1..=20).map(|n| n.to_string()).collect::<Vec<_>>().join("\n") + "\n";
        let new = old.replace("2\n3\n", "2\nnew\n3\n").replace("19\n", "");
        let text = unified(&old, &new);
        assert!(text.starts_with("@@ -1 +1 @@\n 1\n 2\n+new\n 3\n"), "{text}");
        assert!(
            text.ends_with("@@ -16 +17 @@\n 16\n 17\n 18\n-19\n 20\n"),
            "{text}"
        );
        assert_eq!(text.matches("@@ -").count(), 2, "{text}");
    }

    #[test]
    fn a_new_text_is_all_additions_and_an_emptied_one_all_removals() {
        assert_eq!(unified("", "a\nb\n"), "@@ -1 +1 @@\n+a\n+b\n");
        assert_eq!(unified("a\nb\n", ""), "@@ -1 +1 @@\n-a\n-b\n");
    }

    #[test]
    fn a_moved_line_keeps_the_rest() {
        assert_eq!(unified("a\nb\nc\n", "b\nc\na\n"), "@@ -1 +1 @@\n-a\n b\n c\n+a\n");
    }
}
