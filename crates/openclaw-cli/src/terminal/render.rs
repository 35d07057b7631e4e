//! The result of a command, as text for people and as JSON for programs, and the one place that chooses between the two.

use std::io;

use serde::Serialize;

use super::{OutputArgs, Screen};

/// A value that a command computes and shows.
pub(crate) trait Render {
    /// Writes it for people.
    ///
    /// # Errors
    /// When the output cannot be written, or a stored record in it cannot be read.
    fn text(&self, screen: &mut Screen<'_>) -> io::Result<()>;

    /// What is written of it for programs. It is serialized straight into the output, without a copy as
    /// `serde_json::Value`, which cannot hold every number and would make the call fallible.
    fn json(&self) -> impl Serialize;
}

impl Screen<'_> {
    /// Writes a value in the form that `output` asks for.
    ///
    /// # Errors
    /// As [`Render::text`].
    pub(crate) fn render(&mut self, value: &impl Render, output: OutputArgs) -> io::Result<()> {
        if output.json {
            self.json(&value.json())
        } else {
            value.text(self)
        }
    }

    /// Writes values one by one, each as soon as it is computed: as JSON one on a line, as text with a blank line between.
    ///
    /// # Errors
    /// The first error of `values`, or as [`Render::text`]; what came before it is written.
    pub(crate) fn render_stream<R: Render, E: From<io::Error>>(
        &mut self,
        values: impl IntoIterator<Item = Result<R, E>>,
        output: OutputArgs,
    ) -> Result<(), E> {
        for (position, value) in values.into_iter().enumerate() {
            let value = value?;
            if output.json {
                self.json_line(&value.json())?;
                continue;
            }
            if position > 0 {
                self.line("")?;
            }
            value.text(self)?;
        }
        Ok(())
    }
}
