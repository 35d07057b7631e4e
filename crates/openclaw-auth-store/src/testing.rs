//! Test helpers of several modules.

pub(crate) mod log_capture;
