//! What goes wrong in a world: providers that fail, and stores that cannot be written.

pub(crate) mod provider;
pub(crate) mod store_outage;
