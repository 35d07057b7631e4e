//! The one table: columns as wide as they need to be, two blanks between them.

use std::io::{self, Write};

use openclaw_gateway::telemetry::terminal_escape::visible;

use super::{Palette, Style};

/// One field of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cell {
    text: String,
    tone: Style,
}

impl Cell {
    /// A text in a tone.
    pub(crate) fn new(tone: Style, text: impl Into<String>) -> Self {
        Self {
            text: visible(&text.into()).into_owned(),
            tone,
        }
    }
}

impl<T: ToString> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::new(Style::Plain, text.to_string())
    }
}

/// Rows under a heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    heads: &'static [&'static str],
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// An empty table with these headings.
    pub(crate) fn new(heads: &'static [&'static str]) -> Self {
        Self {
            heads,
            rows: Vec::new(),
        }
    }

    /// Adds a row; a blank field shows as `-`.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let blank = |cell: Cell| {
            if cell.text.is_empty() {
                Cell::new(Style::Dim, "-")
            } else {
                cell
            }
        };
        self.rows.push(cells.into_iter().map(blank).collect());
    }

    /// Whether there are no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Writes the table, each line after `indent`.
    pub(crate) fn write(&self, indent: &str, palette: Palette, output: &mut dyn Write) -> io::Result<()> {
        let heads = self
            .heads
            .iter()
            .map(|head| Cell::new(Style::Dim, *head))
            .collect();
        let lines: Vec<&Vec<Cell>> = std::iter::once(&heads).chain(&self.rows).collect();
        let width = |column: usize| {
            let cells = lines.iter().filter_map(|line| line.get(column));
            cells
                .map(|cell| cell.text.chars().count())
                .max()
                .unwrap_or_default()
        };
        let widths: Vec<usize> = (0..self.heads.len()).map(width).collect();
        for line in lines {
            write!(output, "{indent}")?;
            for (column, cell) in line.iter().enumerate() {
                write!(output, "{}", palette.paint(cell.tone, &cell.text))?;
                if column + 1 < line.len() {
                    let used = cell.text.chars().count();
                    let wide = widths.get(column).copied().unwrap_or_default();
                    write!(output, "{:gap$}", "", gap = wide.saturating_sub(used) + 2)?;
                }
            }
            writeln!(output)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_field() {
        let mut table = Table::new(&["NAME", "STATE"]);
        assert!(table.is_empty());
        table.row(["käse".into(), Cell::new(Style::Good, "ready")]);
        table.row(["a longer name".into(), "".into()]);
        let mut written = Vec::new();
        table.write("  ", Palette::Plain, &mut written).unwrap();
        insta::assert_snapshot!("table", String::from_utf8(written).unwrap());
    }
}
