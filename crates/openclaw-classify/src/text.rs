//! Reading text: its normal form, lenient JSON, pages, phrases and fixed words. Knows nothing of failures.

pub(crate) mod constant_regex;
pub(crate) mod html;
pub(crate) mod lenient_json;
pub(crate) mod name_table;
pub(crate) mod normal;
pub(crate) mod patterns;
pub(crate) mod phrase;
