//! Text styles, shown as colours on terminals alone.

use std::fmt;

use anstyle::AnsiColor;
use openclaw_config::Environment;

/// What a text is to be taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Style {
    /// Wrong, and the operator has to act.
    Bad,
    /// Less important.
    Dim,
    /// As it should be.
    Good,
    /// As any other.
    #[default]
    Plain,
    /// A heading.
    Strong,
    /// Not as it should be, and it passes.
    Warn,
}

impl Style {
    fn ansi(self) -> anstyle::Style {
        match self {
            Self::Bad => AnsiColor::Red.on_default(),
            Self::Dim => anstyle::Style::new().dimmed(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Plain => anstyle::Style::new(),
            Self::Strong => anstyle::Style::new().bold(),
            Self::Warn => AnsiColor::Yellow.on_default(),
        }
    }
}

/// Whether tones are shown as colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Palette {
    /// As colours of a terminal.
    Coloured,
    /// Not at all.
    Plain,
}

impl Palette {
    /// Colours on a terminal, unless `NO_COLOR` says anything or the terminal is a dumb one.
    pub(crate) fn of(environment: &Environment, is_terminal: bool) -> Self {
        let is_refused = environment.get("NO_COLOR").is_some() || environment.get("TERM") == Some("dumb");
        if is_terminal && !is_refused {
            Self::Coloured
        } else {
            Self::Plain
        }
    }

    /// `text` in a tone.
    pub(crate) fn paint<T: fmt::Display>(self, tone: Style, text: T) -> Painted<T> {
        Painted {
            palette: self,
            tone,
            text,
        }
    }
}

/// A text in a tone.
pub(crate) struct Painted<T> {
    palette: Palette,
    tone: Style,
    text: T,
}

impl<T: fmt::Display> fmt::Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.palette, self.tone) {
            (Palette::Plain, _) | (_, Style::Plain) => self.text.fmt(f),
            (Palette::Coloured, tone) => {
                let ansi = tone.ansi();
                write!(f, "{ansi}{}{ansi:#}", self.text)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn colours_are_for_terminals_that_want_them() {
        for (variables, is_terminal, expected) in [
            (&[] as &[(&str, &str)], true, Palette::Coloured),
            (&[], false, Palette::Plain),
            (&[("NO_COLOR", "1")], true, Palette::Plain),
            (&[("NO_COLOR", "")], true, Palette::Coloured),
            (&[("TERM", "dumb")], true, Palette::Plain),
            (&[("TERM", "xterm")], true, Palette::Coloured),
        ] {
            let environment = Environment::of(variables.iter().copied(), Path::new("/"));
            assert_eq!(Palette::of(&environment, is_terminal), expected, "{variables:?}");
        }
        assert_eq!(Palette::Plain.paint(Style::Bad, "x").to_string(), "x");
        assert_eq!(
            Palette::Coloured.paint(Style::Bad, "x").to_string(),
            "\u{1b}[31mx\u{1b}[0m"
        );
    }
}
