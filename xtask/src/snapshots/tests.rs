//! Waiting snapshots are found, shown, accepted and rejected as files.

use super::*;

/// A directory of this test's own, removed when the test ends.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("xtask-{name}-{}", std::process::id()));
        std::fs::create_dir_all(path.join("crates/a/src/snapshots")).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.0.join(name)).ok()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const SNAP: &str = "crates/a/src/snapshots/a.snap";
const NEW: &str = "crates/a/src/snapshots/a.snap.new";
const OLD_TEXT: &str = "---\nsource: a.rs\nexpression: x\n---\none\n";
const NEW_TEXT: &str = "---\nsource: a.rs\nassertion_line: 12\nexpression: x\n---\ntwo\n";

#[test]
fn only_waiting_files_outside_build_output_are_found() {
    let directory = Directory::new("found");
    for name in [
        SNAP,
        NEW,
        "target/x.snap.new",
        "target-other/x.snap.new",
        ".git/x.snap.new",
        "b.snap.new",
    ] {
        directory.write(name, NEW_TEXT);
    }
    let found: Vec<_> = pending(&directory.0)
        .unwrap()
        .iter()
        .map(Pending::target)
        .collect();
    assert_eq!(found, [directory.0.join("b.snap"), directory.0.join(SNAP)]);
}

#[test]
fn the_difference_leaves_the_assertion_line_out() {
    let directory = Directory::new("difference");
    directory.write(SNAP, OLD_TEXT);
    directory.write(NEW, NEW_TEXT);
    let [waiting] = &pending(&directory.0).unwrap()[..] else {
        panic!("one waiting snapshot")
    };
    assert_eq!(
        waiting.difference().unwrap(),
        "@@ -2 +2 @@\n source: a.rs\n expression: x\n ---\n-one\n+two\n"
    );
}

#[test]
fn accepting_replaces_the_snapshot() {
    let directory = Directory::new("accept");
    directory.write(SNAP, OLD_TEXT);
    directory.write(NEW, NEW_TEXT);
    pending(&directory.0).unwrap()[0].accept().unwrap();
    assert_eq!(
        directory.read(SNAP).as_deref(),
        Some("---\nsource: a.rs\nexpression: x\n---\ntwo\n")
    );
    assert_eq!(directory.read(NEW), None);
}

#[test]
fn rejecting_leaves_the_snapshot_alone() {
    let directory = Directory::new("reject");
    directory.write(SNAP, OLD_TEXT);
    directory.write(NEW, NEW_TEXT);
    pending(&directory.0).unwrap()[0].reject().unwrap();
    assert_eq!(directory.read(SNAP).as_deref(), Some(OLD_TEXT));
    assert_eq!(directory.read(NEW), None);
}

#[test]
fn a_first_snapshot_is_all_additions() {
    let directory = Directory::new("first");
    directory.write(NEW, "plain\n");
    assert_eq!(
        pending(&directory.0).unwrap()[0].difference().unwrap(),
        "@@ -1 +1 @@\n+plain\n"
    );
}
