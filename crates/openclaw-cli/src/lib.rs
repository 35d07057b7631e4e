#![doc = include_str!("../README.md")]

mod cli;
mod demo;
mod open_files;
mod shutdown;

pub use cli::run;
