//! The transitions of the usage state: what a failure, a success, a clear or an operator makes of it.

mod failure;
mod operator;
mod recovery;
mod stated_end;

pub use failure::record_failure;
pub use operator::{clear_lane, cool_down_until};
pub use recovery::{adopt_secret, clear, record_success};
pub use stated_end::apply_stated_end;
