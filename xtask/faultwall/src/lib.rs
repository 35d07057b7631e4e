#![doc = include_str!("../README.md")]

mod answer;
mod fault;
mod guide;
mod perform;
mod request;
pub mod scripted;
mod wall;
mod wire;

pub use fault::{FAULTS, Fault, Plan, Row, Times};
pub use guide::{config, help};
pub use request::RecordedRequest;
pub use wall::Wall;
pub use wire::Wire;
