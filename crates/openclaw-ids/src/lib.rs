//! The identifiers of model failover and how each is normalised.
//!
//! Strings become these types once, at the edge; below it nothing compares raw text.
//!
//! ```
//! use openclaw_ids::{ModelRef, ProviderId};
//!
//! let wanted: ModelRef = " OpenAI / gpt-5.5 ".parse()?;
//! assert_eq!(wanted.provider(), &ProviderId::try_new("openai")?);
//! assert_eq!(wanted.to_string(), "openai/gpt-5.5");
//! # Ok::<(), openclaw_ids::IdError>(())
//! ```

mod agent;
mod auth_provider;
mod error;
mod model;
mod profile;
mod provider;
mod session_key;
mod text_id;

pub use agent::AgentId;
pub use auth_provider::AuthAliases;
pub use error::IdError;
pub use model::{ModelId, ModelRef};
pub use profile::ProfileId;
pub use provider::ProviderId;
pub use session_key::{SessionId, SessionKey};
