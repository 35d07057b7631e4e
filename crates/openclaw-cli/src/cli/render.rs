//! How commands show things to people: one table, one set of tones, one way to write times.

mod style;
mod table;

pub(super) use style::{Palette, Style};
pub(super) use table::{Cell, Table};
