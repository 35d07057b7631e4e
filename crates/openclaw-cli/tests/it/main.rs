//! The gateway over real sockets: what the client saw, and what each upstream saw.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test says what is wrong by panicking"
)]

mod admin;
mod binary;
mod cli;
mod commands;
mod credentials;
mod demo;
mod errors;
mod failover;
mod faults;
mod full_disk;
mod history;
mod logins;
mod many_streams;
mod odd_requests;
mod outage;
mod page;
mod prompt_size;
mod refusals;
mod reload;
mod requests;
mod rescue;
mod served;
mod sessions;
mod state_files;
mod stream_ends;
mod streams;
mod telemetry;
#[cfg(target_os = "linux")]
mod tls;
mod wires;
mod world;
