#![doc = include_str!("../README.md")]

mod arrival;
mod call;
mod client;
mod deadlines;
mod endpoint;
mod exchange;
mod facts;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod retry;
mod streaming_answer;
mod worker_runtimes;

pub use call::Call;
pub use deadlines::Deadlines;
pub use endpoint::{Endpoint, EndpointError, SecretKind};
pub use exchange::{Answer, FetchError, PlainRequest, Upstream};
pub use retry::is_transient;
pub use streaming_answer::{AnswerStep, LiveAnswer, SentAnswer, buffer_whole};
pub use worker_runtimes::WorkerRuntimes;
