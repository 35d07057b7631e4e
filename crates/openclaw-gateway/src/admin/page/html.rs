//! HTML that is safe by the way it is put together: what is not written here is escaped.

/// A piece of HTML.
#[derive(Debug, Default)]
pub(super) struct Html(String);

impl Html {
    /// Adds markup that is written in the program.
    pub(super) fn raw(mut self, markup: &'static str) -> Self {
        self.0.push_str(markup);
        self
    }

    /// Adds a text from anywhere, also inside a quoted attribute.
    pub(super) fn text(mut self, text: &str) -> Self {
        for character in text.chars() {
            match character {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                other => self.0.push(other),
            }
        }
        self
    }

    /// Adds a number.
    pub(super) fn number(mut self, number: i64) -> Self {
        self.0.push_str(&number.to_string());
        self
    }

    /// Adds another piece.
    pub(super) fn nested(mut self, piece: &Self) -> Self {
        self.0.push_str(&piece.0);
        self
    }

    /// The whole text.
    pub(super) fn into_text(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_said_stays_a_text() {
        let html = Html::default()
            .raw("<p title=\"")
            .text("\"'><script>&")
            .raw("\">");
        assert_eq!(
            html.into_text(),
            "<p title=\"&quot;&#39;&gt;&lt;script&gt;&amp;\">"
        );
    }
}
