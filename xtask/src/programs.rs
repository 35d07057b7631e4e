//! Tasks that hand over to a program of their own, which may depend on the crates; this one stays free of dependencies.

pub(crate) mod bench;
pub(crate) mod clients;
pub(crate) mod corpus;
pub(crate) mod faultwall;
pub(crate) mod sim;
