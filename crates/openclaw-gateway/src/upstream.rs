//! Calling a provider: one attempt, from the request that leaves to the answer that is worth showing.

mod arrival;
mod body;
mod buffered;
mod client;
mod deadlines;
mod endpoint;
mod exchange;
mod facts;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod halves;
mod headers;
mod inline;
mod live;
mod nature;
mod progress;
mod retry;
mod secrets;
mod sketch;
mod smallest;
mod splice;
mod sse;
mod transport;
mod wire;

pub use body::{BodyError, RequestBody};
pub(crate) use buffered::whole as held_until_whole;
pub(crate) use deadlines::Deadlines;
pub use endpoint::EndpointError;
pub(crate) use endpoint::{Endpoint, is_loopback_host};
pub use exchange::{Answer, AskFault, Call, Question, SecretKind, Upstream};
pub(crate) use inline::before_text;
pub(crate) use live::{Flow, LiveAnswer};
pub(crate) use progress::Missing;
pub(crate) use retry::is_by_chance;
pub use smallest::smallest_request;
pub(crate) use wire::Wire;
