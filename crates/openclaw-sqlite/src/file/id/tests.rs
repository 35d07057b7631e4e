use std::fs;

use super::*;

#[test]
fn a_removed_and_a_replaced_file_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("a"), folder.path().join("b"));
    let mut watch = FileWatch::new(&path);
    assert_eq!(watch.id(), FileId::MISSING);
    fs::write(&path, "1").unwrap();
    fs::write(&copy, "2").unwrap();
    assert!(watch.is_replaced());
    assert!(watch.update() && !watch.update());
    fs::write(&path, "3").unwrap();
    assert!(!watch.is_replaced());
    if cfg!(unix) {
        fs::rename(&copy, &path).unwrap();
        assert!(watch.is_replaced());
        assert_eq!(FileId::of(watch.path()), FileId::of(&path));
    }
}
