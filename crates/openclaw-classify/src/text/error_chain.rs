//! The causes of an error: as an iterator, or in one line for people.

use std::error::Error;

/// `error` and its sources, outermost first.
pub fn each<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |cause| (*cause).source())
}

/// The texts of `error` and its sources joined by `: `. A text that the line contains already is left out.
pub fn line(error: &(dyn Error + 'static)) -> String {
    let mut line = error.to_string();
    for cause in each(error).skip(1) {
        let text = cause.to_string();
        if !line.contains(&text) {
            line = format!("{line}: {text}");
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{text}")]
    struct Link {
        text: &'static str,
        source: Option<Box<Link>>,
    }

    fn link(text: &'static str, source: Option<Link>) -> Link {
        Link {
            text,
            source: source.map(Box::new),
        }
    }

    #[test]
    fn every_cause_is_named_once() {
        let error = link(
            "cannot open a",
            Some(link("a is locked", Some(link("locked", None)))),
        );
        assert_eq!(line(&error), "cannot open a: a is locked");
        assert_eq!(line(&link("a", None)), "a");
    }
}
