//! A person, two runs and the system act on one session in any order; what the person chose stays theirs.
#![expect(clippy::unwrap_used, reason = "functions that tests share")]

mod action;
mod exhaustive;
mod invariants;
mod random_walk;
mod world;
