//! The output of a command: lines, tables and JSON on standard output, and the time that it reports for.

use std::io::{self, IsTerminal, Write};

use jiff::Timestamp;
use openclaw_config::Environment;
use openclaw_gateway::telemetry::terminal_escape::{visible_in_colour, visible_lines};
use openclaw_runner::{Clock, SystemClock};
use serde::Serialize;

use super::{Palette, Style, Table};

/// The output of one command.
pub(crate) struct Screen<'o> {
    output: &'o mut dyn Write,
    pub(crate) palette: Palette,
    /// Whether the output is a terminal.
    pub(crate) is_terminal: bool,
}

impl<'o> Screen<'o> {
    /// The standard output of this process.
    pub(crate) fn of(environment: &Environment, output: &'o mut io::Stdout) -> Self {
        let is_terminal = output.is_terminal();
        Self {
            output,
            palette: Palette::of(environment, is_terminal),
            is_terminal,
        }
    }

    /// An output in memory, without colours.
    #[cfg(test)]
    pub(crate) fn plain(output: &'o mut Vec<u8>) -> Self {
        Self {
            output,
            palette: Palette::Plain,
            is_terminal: false,
        }
    }

    /// Writes one line.
    pub(crate) fn line(&mut self, text: impl std::fmt::Display) -> io::Result<()> {
        self.text(&text.to_string())
    }

    /// Writes one line in a tone.
    pub(crate) fn toned(&mut self, tone: Style, text: impl std::fmt::Display) -> io::Result<()> {
        let painted = self.palette.paint(tone, text).to_string();
        self.text(&painted)
    }

    /// Names and texts of others stand in it.
    fn text(&mut self, text: &str) -> io::Result<()> {
        let shown = match self.palette {
            Palette::Coloured => visible_in_colour(text),
            Palette::Plain => visible_lines(text),
        };
        writeln!(self.output, "{shown}")
    }

    /// Writes a table under a heading, with a blank line before it; nothing when it has no rows.
    pub(crate) fn section(&mut self, heading: &str, table: &Table) -> io::Result<()> {
        if table.is_empty() {
            return Ok(());
        }
        self.line("")?;
        self.toned(Style::Strong, heading)?;
        self.table(table)
    }

    /// Writes a table.
    pub(crate) fn table(&mut self, table: &Table) -> io::Result<()> {
        table.write("  ", self.palette, self.output)
    }

    /// Writes a value as JSON over several lines.
    pub(super) fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *self.output, value)?;
        self.line("")
    }

    /// Writes a value as JSON on one line.
    pub(super) fn json_line(&mut self, value: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut *self.output, value)?;
        self.line("")
    }

    /// Starts anew at the top of a terminal.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        if self.is_terminal {
            write!(self.output, "\u{1b}[H\u{1b}[2J")?;
        }
        self.output.flush()
    }

    /// What is written elsewhere.
    pub(crate) fn writer(&mut self) -> &mut dyn Write {
        self.output
    }
}

/// The moment at which a command looks.
pub(crate) fn now() -> Timestamp {
    SystemClock.now()
}
