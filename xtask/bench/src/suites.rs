//! The measurements that `cargo xtask bench` knows by name, one file each.

pub(crate) mod classify;
pub(crate) mod gateway;
pub(crate) mod growth;
pub(crate) mod large;
pub(crate) mod steady;
pub(crate) mod switches;
