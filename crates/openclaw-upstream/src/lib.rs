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
mod live;
mod retry;
mod worker_runtimes;

pub use call::Call;
pub use deadlines::Deadlines;
pub use endpoint::{Endpoint, EndpointError, SecretKind};
pub use exchange::{Answer, FetchError, PlainRequest, Upstream};
pub use live::{AnswerStep, LiveAnswer, SentAnswer, buffer_whole};
pub use retry::is_transient;
pub use worker_runtimes::WorkerRuntimes;
