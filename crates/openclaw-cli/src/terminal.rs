//! The terminal: output in styles and tables, prompts for secrets, progress, and durations as arguments.

pub(crate) mod duration_arg;
pub(crate) mod progress;
pub(crate) mod prompt;
pub(crate) mod screen;
mod style;
mod table;

pub(crate) use screen::Screen;
pub(crate) use style::{Palette, Style};
pub(crate) use table::{Cell, Table};
