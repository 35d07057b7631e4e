#![doc = include_str!("../README.md")]

mod config;
mod credential;
#[cfg(feature = "sqlite")]
mod doctor;
mod error;
#[cfg(feature = "sqlite")]
mod import;
mod profile;
#[cfg(feature = "sqlite")]
mod refresh;
mod secret;
mod secret_resolver;
mod snapshot;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;
#[cfg(feature = "sqlite")]
#[cfg(test)]
mod testing;

pub use config::{AuthConfig, ConfiguredMode, ConfiguredProfile};
pub use credential::{
    AmbientProfile, ApiKey, Attributes, Credential, Credentials, Expiry, HasProvider, KeySource, Local,
    Oauth, ProfileMap, Rejection, Token,
};
#[cfg(feature = "sqlite")]
pub use doctor::{AgentFolder, DoctorError, DoctorFinding, DoctorOutcome, DoctorPaths, DoctorPlan};
pub use error::{Cause, OpenError, OrderError, StoreError, UnreadableRow};
#[cfg(feature = "sqlite")]
pub use import::{ImportError, ImportReport, LegacyFile, LegacyFolder, LegacyProfiles, LegacyTexts};
pub use profile::{
    EXPIRY_WARNING, Eligibility, ExcludedProfile, ExclusionReason, Health, ListedProfile, ListedWindow,
    OrderBasis, OrderReport, ProfileOrigin, ProfileSource, credential_eligibility, eligibility, health,
    list_profiles, new_profile_id, order_report, rotation_order,
};
#[cfg(feature = "sqlite")]
pub use refresh::{
    Demand, ReauthReason, RefreshError, RefreshHost, Refresher, RenewedLogin, TokenEndpoint,
    TokenEndpointError, refresh_lock_name,
};
pub use secret::{Secret, SecretRef, SecretSource, log_id, mask_key};
pub use secret_resolver::{
    SecretError, SecretFile, SecretLookup, profile_secret, resolve_pointer, resolve_secret,
    resolve_secret_from,
};
pub use snapshot::{
    AuthSnapshot, ChangeOutcome, EndpointKey, LoginChange, ProbeLease, ProbeState, RefreshLease,
    StoredSnapshot, UsageChange, UsageMap,
};
#[cfg(feature = "sqlite")]
pub use sqlite::SqliteAuthStore;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub use sqlite::fuzzing;
#[cfg(any(test, feature = "conformance"))]
pub use store::conformance;
pub use store::{
    InheritingAuthStore, LoginStore, MemoryAuthStore, ProfileOwner, ProfileStore, UsageStore, inherit,
    profile_owner,
};
