#![doc = include_str!("../README.md")]

mod cli;
mod demo;
mod file_limit;
mod signals;

pub use cli::run;
