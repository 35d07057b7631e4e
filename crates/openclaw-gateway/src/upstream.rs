//! Calling a provider: one attempt, from the request that leaves to the answer that is worth showing.

mod arrival;
mod body;
mod deadlines;
mod endpoint;
mod facts;
mod inline;
mod live;
mod openai;
mod progress;
mod secrets;
mod sse;
mod transport;
mod wire;

pub(crate) use body::{BodyError, RequestBody};
pub(crate) use deadlines::Deadlines;
pub use endpoint::EndpointError;
pub(crate) use endpoint::{Endpoint, is_loopback_host};
pub(crate) use inline::before_text;
pub(crate) use live::{Flow, LiveAnswer};
pub use openai::UpstreamError;
pub(crate) use openai::{Answer, Call, Upstream};
