#![doc = include_str!("../README.md")]

mod agent;
mod error;
mod model;
mod profile;
mod provider;
mod session;
mod text_id;

pub use agent::AgentId;
pub use error::IdError;
pub use model::{ModelId, ModelRef};
pub use profile::ProfileId;
pub use provider::ProviderId;
pub use session::{SessionId, SessionKey};
pub use text_id::lowercased;
