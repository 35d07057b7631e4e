//! Whole runs: machine, driver and stores together, with scripted attempts and paused time.

mod cancel;
mod clock;
mod report;
mod scenario;
mod scenarios;
mod script;
