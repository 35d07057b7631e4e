#![doc = include_str!("../README.md")]

mod address;
mod api_format;
mod auth_aliases;
mod catalogue;
mod family;
mod login;
mod lookup;
mod model_renames;
mod provider;

pub use address::{is_host_or_below, is_loopback_host};
pub use api_format::{ApiFormat, CompatiblePath};
pub use auth_aliases::AuthAliases;
pub use catalogue::PROVIDERS;
pub use family::{FAMILIES, Family, FamilyNames};
pub use login::{Login, StaticToken, TokenEncoding};
pub use lookup::{cli_runtime_owner, compatible_path, formats, is_built_in, provider, with_address};
pub use model_renames::{MODEL_RENAMES, ModelRenames, RenameTime, renamed_when_loaded};
pub use provider::{KeyNeed, Listing, Provider};
