//! Findings about a configuration that can be read and still does not do what it seems to: misspelt keys and includes.

pub(crate) mod includes;
pub(crate) mod typo_check;

pub use includes::{INCLUDE_REMEDY, Include};
pub use typo_check::MisspeltKey;
