//! What the command line says: a kind, files, and how much to print.

use std::path::PathBuf;

use crate::kind::{self, Kind};
use crate::report::{Detail, Ending};
use crate::row::CannotRead;

/// A comparison as it was asked for.
#[derive(Debug)]
pub(crate) struct Arguments {
    pub(crate) kind: &'static Kind,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) detail: Detail,
    pub(crate) ending: Ending,
}

impl Arguments {
    /// Reads the words after `corpus`.
    pub(crate) fn parse(words: &[String]) -> Result<Self, CannotRead> {
        let mut operands = Vec::new();
        let (mut detail, mut ending) = (Detail::Differing, Ending::Counts);
        for word in words {
            match word.as_str() {
                "--json" => ending = Ending::Json,
                "--all" => detail = Detail::Everything,
                word if word.starts_with('-') => {
                    return Err(CannotRead(format!(
                        "there is no option `{word}`; there are --json and --all"
                    )));
                }
                word => operands.push(word),
            }
        }
        let mut operands = operands.into_iter();
        let names = || {
            kind::KINDS
                .iter()
                .map(|kind| kind.name)
                .collect::<Vec<_>>()
                .join(", ")
        };
        let Some(name) = operands.next() else {
            return Err(CannotRead(format!("name a kind ({}) and its files", names())));
        };
        let Some(kind) = kind::KINDS.iter().find(|kind| kind.name == name) else {
            return Err(CannotRead(format!(
                "there is no kind `{name}`; the kinds are {}",
                names()
            )));
        };
        let files: Vec<_> = operands.map(PathBuf::from).collect();
        if files.is_empty() {
            return Err(CannotRead(format!(
                "name the files to compare: cargo xtask corpus {name} FILE..."
            )));
        }
        Ok(Self {
            kind,
            files,
            detail,
            ending,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Arguments, CannotRead> {
        Arguments::parse(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_may_stand_anywhere() {
        let kind = kind::KINDS[0].name;
        for text in [
            format!("{kind} a b --json --all"),
            format!("--all {kind} --json a b"),
        ] {
            let arguments = parse(&text).unwrap();
            assert_eq!(arguments.kind.name, kind);
            assert_eq!(arguments.files, [PathBuf::from("a"), PathBuf::from("b")]);
            assert_eq!(
                (arguments.detail, arguments.ending),
                (Detail::Everything, Ending::Json)
            );
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_the_choices() {
        let kind = kind::KINDS[0].name;
        for (text, part) in [
            (String::new(), kind),
            ("nothing a".to_owned(), kind),
            (kind.to_owned(), "FILE..."),
            (format!("{kind} a --verbose"), "--all"),
        ] {
            let CannotRead(message) = parse(&text).unwrap_err();
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}
