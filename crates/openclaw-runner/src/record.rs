//! The records of a run: decisions about candidates and credentials, failed attempts, and the report of all of them.

pub(crate) mod decision;
pub(crate) mod error_fields;
pub(crate) mod millis;
pub(crate) mod report;
pub(crate) mod rotation;
pub(crate) mod short_hash;
pub(crate) mod summary;
