#![doc = include_str!("../README.md")]

mod address;

pub use address::is_loopback_host;
