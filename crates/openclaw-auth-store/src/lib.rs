#![doc = include_str!("../README.md")]

mod by_provider;
mod change;
mod config;
#[cfg(test)]
mod conformance;
mod credential;
#[cfg(feature = "sqlite")]
mod doctor;
mod edit;
mod eligibility;
mod error;
mod health;
#[cfg(feature = "sqlite")]
mod import;
mod inherit;
mod listing;
#[cfg(feature = "sqlite")]
#[cfg(test)]
mod logged;
mod login;
mod mask;
mod memory;
mod new_profile;
mod order;
#[cfg(feature = "sqlite")]
mod payload;
mod probe;
#[cfg(feature = "sqlite")]
mod refresh;
mod resolve;
mod secret;
mod secret_ref;
mod snapshot;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;
mod usages;

pub use by_provider::{ByProvider, Credentials, OfProvider};
pub use change::{Applied, UsageChange};
pub use config::{AuthConfig, ConfiguredMode, ConfiguredProfile};
pub use credential::{
    AmbientProfile, ApiKey, Attributes, Credential, Expires, KeySource, Local, Oauth, Rejection, Token,
};
#[cfg(feature = "sqlite")]
pub use doctor::{AgentPlace, DoctorError, DoctorFinding, DoctorOutcome, DoctorPlaces, DoctorPlan};
pub use eligibility::{Eligibility, credential_eligibility, eligibility};
pub use error::{Cause, OpenError, OrderError, StoreError, UnreadableRow};
pub use health::{EXPIRY_WARNING, Health, health};
#[cfg(feature = "sqlite")]
pub use import::{ImportError, ImportReport, Legacy, LegacyFile, LegacyFolder, LegacyTexts};
pub use inherit::{InheritingAuthStore, ProfileOwner, inherit, profile_owner};
pub use listing::{ListedProfile, ListedWindow, ProfileOrigin, list_profiles};
pub use login::{LoginChange, LoginStore, RefreshLease};
pub use mask::{log_id, mask_key};
pub use memory::MemoryAuthStore;
pub use new_profile::{ProfileSource, new_profile_id};
pub use order::{OrderBasis, OrderReport, PassedOver, WhyPassedOver, order_report, rotation_order};
pub use probe::{ProbeLease, ProbeState};
#[cfg(feature = "sqlite")]
pub use refresh::{
    Demand, ReauthReason, RefreshError, RefreshHost, Refresher, RenewedLogin, TokenEndpoint,
    TokenEndpointError, refresh_lock_name,
};
pub use resolve::{
    SecretError, SecretFile, SecretPlaces, profile_secret, resolve_pointer, resolve_secret,
    resolve_secret_from,
};
pub use secret::Secret;
pub use secret_ref::{SecretRef, SecretSource};
pub use snapshot::{AuthSnapshot, EndpointKey};
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteAuthStore;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub use sqlite::fuzzing;
pub use store::{ProfileStore, UsageStore};
pub use usages::Usages;
