//! `stream`: what the gateway does when a stream breaks off.

use serde::{Deserialize, Serialize};

/// `stream` of `failover.json5`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "an object such as { rescue: 'splice' }"
)]
pub struct StreamSettings {
    /// What is done for a stream whose upstream breaks off after its first content.
    pub rescue: Rescue,
}

/// What is done for a stream whose upstream breaks off after its first content (BL-92, BL-94).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Rescue {
    /// Every stream is held back until it is whole, so that one that breaks off is an ordinary failed attempt.
    Buffered,
    /// Nothing: it ends with an error in the stream.
    #[default]
    Off,
    /// The next model answers anew, and its answer takes over where it repeats everything that was sent.
    Splice,
}
