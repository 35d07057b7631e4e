#![doc = include_str!("../README.md")]

mod body_kind;
mod format;
mod overlap;
mod partial_json;
mod progress;
mod request_body;
mod splice;
mod sse;
mod surrogates;

pub use body_kind::BodyKind;
pub use format::{
    ApiFamily, ContentKind, Delta, RequestKind, ResponseBody, StreamEvent, SyntheticAnswer, WireFormat,
};
pub use overlap::Mismatch;
pub use progress::{MissingEnd, StreamProgress};
pub use request_body::{BodyError, RequestBody};
pub use splice::{NewEvents, Splice};
pub use sse::{EventTooLarge, SseEvent, SseParser};
