//! The renames are well formed, and each provider has one row.

use super::*;

#[test]
fn each_provider_has_one_row_of_lowercased_old_names() {
    let mut seen = std::collections::HashSet::new();
    for row in MODEL_RENAMES {
        for provider in row.providers {
            assert!(seen.insert(*provider), "{provider}");
            assert_eq!(*provider, provider.trim().to_lowercase());
        }
        for (from, to) in row.renames {
            assert_eq!(*from, from.to_lowercase());
            assert_ne!(from, to);
        }
    }
}

#[test]
fn google_and_together_are_renamed_in_the_model_map_at_once() {
    let at_once = MODEL_RENAMES.iter().flat_map(|row| row.providers);
    let at_once: Vec<&str> = at_once
        .copied()
        .filter(|name| renamed_when_loaded(name))
        .collect();
    assert_eq!(
        at_once,
        ["google", "google-gemini-cli", "google-vertex", "together"]
    );
}
