//! The rows are well formed, and no name or variable leads to two of them.

use std::collections::HashSet;

use openclaw_ids::ProviderId;

use super::PROVIDERS;
use crate::address::is_loopback_host;
use crate::provider::{KeyNeed, Provider};

/// Every text of the rows, with the row's id.
fn texts(of: impl Fn(&'static Provider) -> Vec<&'static str>) -> Vec<(&'static str, &'static str)> {
    let rows = PROVIDERS.iter();
    rows.flat_map(|row| of(row).into_iter().map(move |text| (row.id, text)))
        .collect()
}

fn assert_unique(texts: &[(&str, &str)]) {
    let mut seen = HashSet::new();
    for (id, text) in texts {
        assert!(seen.insert(text), "{id}: {text} is there twice");
    }
}

#[test]
fn v1_ids_and_aliases_are_normalised_and_each_means_one_provider() {
    let names = texts(|row| [&[row.id], row.aliases].concat());
    assert_unique(&names);
    // An alias of credentials may be a provider of its own, but leads to one owner.
    let credential_names = texts(|row| row.credential_aliases.to_vec());
    assert_unique(&credential_names);
    let runtimes = texts(|row| row.cli_runtimes.to_vec());
    assert_unique(&runtimes);
    for (id, name) in names.iter().chain(&credential_names).chain(&runtimes) {
        assert_eq!(ProviderId::try_new(name).unwrap().as_str(), *name, "{id}");
    }
}

#[test]
fn variables_are_in_upper_case_and_each_is_for_one_provider() {
    let variables = texts(|row| row.key_variables.to_vec());
    assert_unique(&variables);
    for (id, name) in variables {
        let is_legal = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        assert!(name.starts_with(|c: char| c.is_ascii_uppercase()), "{id}: {name}");
        assert!(name.chars().all(is_legal), "{id}: {name}");
    }
}

#[test]
fn addresses_are_well_formed() {
    let addresses = texts(|row| {
        let login = row.login.iter();
        let login = login.flat_map(|login| [login.base_url, Some(login.token_url), login.usage_url]);
        row.base_url.into_iter().chain(login.flatten()).collect()
    });
    for (id, url) in addresses {
        let (scheme, rest) = url.split_once("://").unwrap();
        let host = rest.split(['/', ':']).next().unwrap();
        assert_eq!(scheme == "http", is_loopback_host(host), "{id}: {url}");
        assert!(scheme == "http" || scheme == "https", "{id}: {url}");
        assert!(host.contains('.') && host == host.to_lowercase(), "{id}: {url}");
        assert!(
            !url.ends_with('/') && !url.contains(['?', '#', ' ', '@']),
            "{id}: {url}"
        );
    }
    for (id, path) in texts(|row| row.compatible_path.iter().map(|path| path.compatible).collect()) {
        assert!(path.starts_with('/') && !path.ends_with('/'), "{id}: {path}");
    }
}

#[test]
fn a_key_is_needed_where_a_variable_holds_one_and_only_there() {
    for row in PROVIDERS.iter().filter(|row| row.base_url.is_some()) {
        assert_eq!(
            row.key_need == KeyNeed::NoKey,
            row.key_variables.is_empty(),
            "{}",
            row.id
        );
    }
    for row in PROVIDERS.iter().filter(|row| row.base_url.is_none()) {
        assert!(
            row.key_variables.is_empty() && row.default_model.is_none(),
            "{}",
            row.id
        );
        assert_eq!(row.key_need, KeyNeed::Required, "{}", row.id);
    }
}

#[test]
fn providers_with_an_address_come_first() {
    let has_address: Vec<bool> = PROVIDERS.iter().map(|row| row.base_url.is_some()).collect();
    assert!(has_address.is_sorted_by(|one, next| one >= next));
}
