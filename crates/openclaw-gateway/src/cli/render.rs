//! How commands show things to people: one table, one set of tones, one way to write times.

mod span;
mod table;
mod tone;

pub(crate) use span::{ago, left};
pub(super) use table::{Cell, Table};
pub(super) use tone::{Palette, Tone};
