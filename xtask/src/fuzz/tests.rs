//! The table and the folders agree, and what is typed is read or refused with a way out.

use std::collections::BTreeSet;
use std::path::Path;

use super::*;

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn what_may_be_typed() {
    let wish = FuzzArguments::parse(&words("stream --minutes 30 run")).unwrap();
    assert_eq!(wish.names, ["stream", "run"]);
    assert_eq!((wish.minutes, wish.list), (30, false));
    assert_eq!(
        FuzzArguments::parse(&words("--minutes=2 --list"))
            .unwrap()
            .minutes,
        2
    );
    assert_eq!(FuzzArguments::parse(&[]).unwrap().minutes, MINUTES);
    for (text, complaint) in [
        ("--minutes", "whole number"),
        ("--minutes 0", "whole number"),
        ("--minutes=x", "whole number"),
        ("streams", "the targets are classify, "),
    ] {
        let CannotRun(error) = FuzzArguments::parse(&words(text)).unwrap_err();
        assert!(error.contains(complaint), "{text}: {error}");
    }
}

#[test]
fn every_target_of_every_crate_is_listed_and_has_seeds_and_a_dictionary() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut found = BTreeSet::new();
    for folder in std::fs::read_dir(&crates).unwrap() {
        let folder = folder.unwrap().path().join("fuzz");
        let Ok(manifest) = std::fs::read_to_string(folder.join("Cargo.toml")) else {
            continue;
        };
        assert!(folder.join("words.dict").is_file(), "{}", folder.display());
        for line in manifest.lines() {
            let Some(name) = line.strip_prefix("path = \"fuzz_targets/") else {
                continue;
            };
            let name = name.trim_end_matches(".rs\"");
            let seeds = folder.join("seeds").join(name);
            let count = std::fs::read_dir(&seeds).map_or(0, Iterator::count);
            assert!(count > 0, "no seeds in {}", seeds.display());
            found.insert(name.to_owned());
        }
    }
    let listed: BTreeSet<String> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    assert_eq!(found, listed);
}
