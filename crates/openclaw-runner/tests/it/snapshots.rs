//! Every file of `fixtures/scenarios/` as a snapshot.

use std::path::{Path, PathBuf};

use crate::scenarios::{files, played, root};

#[test]
fn every_scenario_ends_as_written_down() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(root().join("snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let paths = files();
    let failed: Vec<&PathBuf> = paths.iter().filter(|path| !passes(&settings, path)).collect();
    assert!(
        failed.is_empty(),
        "{} of {} scenarios differ: {failed:?}",
        failed.len(),
        paths.len()
    );
}

/// Plays one file; a failure is shown and the others are still played.
fn passes(settings: &insta::Settings, path: &Path) -> bool {
    let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
    let played = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let text = played(path).text;
        settings.bind(|| insta::assert_snapshot!(name, text));
    }));
    played.is_ok()
}
