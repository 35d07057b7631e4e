//! How commands show things to people: one table, one set of tones, one way to write times.

mod table;
mod tone;

pub(super) use table::{Cell, Table};
pub(super) use tone::{Palette, Tone};
