//! The wire formats of model providers as bytes: request bodies, whole answers, server-sent events.

mod body_kind;
mod format;
mod inline_notice;
mod partial_json;
mod probe_request;
mod progress;
mod request_body;
mod splice;
mod sse;
mod surrogates;

pub use body_kind::BodyKind;
pub use format::{ContentKind, Delta, ResponseBody, StreamEvent, WireFormat};
pub use inline_notice::{before_text, event_before};
pub use probe_request::smallest_request;
pub use progress::{MissingEnd, StreamProgress};
pub use request_body::{BodyError, RequestBody};
pub use splice::{Mismatch, NewEvents, Splice};
pub use sse::{EventTooLarge, SseEvent, SseParser};
