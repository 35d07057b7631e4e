//! The terminal: output as text or JSON, in styles and tables, prompts for secrets, progress, and durations as arguments.

pub(crate) mod duration_arg;
mod output_args;
pub(crate) mod progress;
pub(crate) mod prompt;
mod render;
pub(crate) mod screen;
mod style;
mod table;

pub(crate) use output_args::OutputArgs;
pub(crate) use render::Render;
pub(crate) use screen::Screen;
pub(crate) use style::{Palette, Style};
pub(crate) use table::{Cell, Table};
