//! The short names for models that ship with the program (chain.md 6.2).

use openclaw_ids::ModelRef;

use super::Entry;
use crate::vendor::VendorRules;

/// Whether the short names that ship with the program are added to the configured ones (chain.md 6.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BuiltInAliases {
    /// Added where their model is listed without an alias and no other entry uses the name.
    #[default]
    Added,
    /// Left out.
    LeftOut,
}

/// Short name and the model it stands for (chain.md 6.2).
pub(crate) const BUILT_IN: &[(&str, &str)] = &[
    ("opus", "anthropic/claude-opus-4-8"),
    ("sonnet", "anthropic/claude-sonnet-5"),
    ("gpt", "openai/gpt-5.4"),
    ("gpt-mini", "openai/gpt-5.4-mini"),
    ("gpt-nano", "openai/gpt-5.4-nano"),
    ("gemini", "google/gemini-3.1-pro-preview"),
    ("gemini-flash", "google/gemini-3-flash-preview"),
    ("gemini-flash-lite", "google/gemini-3.1-flash-lite"),
];

/// Gives the shipped names to the listed models that qualify.
pub(super) fn add_built_in(entries: &mut [Entry], vendor: &VendorRules) {
    for (alias, target) in BUILT_IN {
        let used = entries.iter().filter_map(|entry| entry.alias.as_deref());
        if used.clone().any(|used| used.eq_ignore_ascii_case(alias)) {
            continue;
        }
        let means_target = |entry: &&mut Entry| {
            let listed = entry.key.parse::<ModelRef>();
            listed.is_ok_and(|listed| vendor.normalise(listed.provider(), listed.model()).key() == *target)
        };
        let listed = entries.iter_mut().find(means_target);
        if let Some(entry) = listed.filter(|entry| entry.alias.is_none()) {
            entry.alias = Some((*alias).to_owned());
        }
    }
}
