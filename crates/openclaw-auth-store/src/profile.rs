//! Which profiles of a provider can be used, in which order, and how each is doing.

pub(crate) mod eligibility;
mod health;
mod listing;
mod new_id;
mod order;

pub use eligibility::{Eligibility, credential_eligibility, eligibility};
pub use health::{EXPIRY_WARNING, Health, health};
pub use listing::{ListedProfile, ListedWindow, ProfileOrigin, list_profiles};
pub use new_id::{ProfileSource, new_profile_id};
pub use order::{ExcludedProfile, ExclusionReason, OrderBasis, OrderReport, order_report, rotation_order};
