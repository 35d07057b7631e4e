//! An error and its causes, in one line for people.

use std::error::Error;

/// `error` and what caused it, joined by colons, each text once.
pub(crate) fn line(error: &(dyn Error + 'static)) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !line.contains(&text) {
            line = format!("{line}: {text}");
        }
        cause = error.source();
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
    fn every_cause_is_told_once() {
        let error = link(
            "cannot open a",
            Some(link("a is locked", Some(link("locked", None)))),
        );
        assert_eq!(line(&error), "cannot open a: a is locked");
        assert_eq!(line(&link("a", None)), "a");
    }
}
