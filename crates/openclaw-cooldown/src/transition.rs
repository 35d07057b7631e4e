//! The transitions of the usage state: what a failure, a success, a clear or an operator makes of it.

mod failure;
mod manual;
mod recovery;
mod stated_end;

pub use failure::record;
pub use manual::{clear_lane, rest_until};
pub use recovery::{adopt_secret, clear, succeed};
pub use stated_end::explain;
