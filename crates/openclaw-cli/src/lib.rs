#![doc = include_str!("../README.md")]

mod cli;
mod demo;
mod file_limit;
mod files;
mod outcome;
mod signals;
mod terminal;

pub use cli::run;
