//! The programs that take part in a measurement: the gateway under test, its upstream, the proxy beside it, and the load.

pub(crate) mod floor;
pub(crate) mod load;
pub(crate) mod process;
pub(crate) mod upstream;
