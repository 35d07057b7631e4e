//! Calling a provider: one attempt, from the request that leaves to the answer that is worth showing.

mod arrival;
mod buffered;
mod client;
mod deadlines;
mod endpoint;
mod exchange;
mod facts;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod headers;
mod live;
mod retry;
mod secrets;
mod transport;
pub mod worker_runtimes;

pub use buffered::whole as buffer_whole;
pub use deadlines::Deadlines;
pub use endpoint::{Endpoint, EndpointError};
pub use exchange::{Answer, Call, FetchError, PlainRequest, SecretKind, Upstream};
pub use live::{AnswerStep, LiveAnswer};
pub use retry::is_transient;
