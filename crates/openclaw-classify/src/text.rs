//! Reading text: normal form, lenient JSON, HTML pages, phrases and fixed patterns. Independent of failures and rules.

pub(crate) mod constant_regex;
pub mod error_chain;
pub(crate) mod html;
pub(crate) mod lenient_json;
pub(crate) mod name_table;
pub(crate) mod normal;
pub(crate) mod patterns;
pub(crate) mod phrase;
