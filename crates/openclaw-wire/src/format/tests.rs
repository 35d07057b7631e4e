//! The table of formats as a whole.

use std::collections::BTreeSet;

use super::*;

#[test]
fn every_format_has_its_own_path_and_label_and_stands_at_its_index() {
    let paths: BTreeSet<_> = WireFormat::ALL.iter().map(|format| format.path()).collect();
    let labels: BTreeSet<_> = WireFormat::ALL.iter().map(|format| format.label()).collect();
    assert_eq!(
        (paths.len(), labels.len()),
        (WireFormat::COUNT, WireFormat::COUNT)
    );
    for (index, format) in WireFormat::ALL.iter().enumerate() {
        assert_eq!(format.index(), index, "{format:?}");
        assert_eq!(WireFormat::of_path(format.path()), Some(*format));
    }
    assert_eq!(WireFormat::of_path("completions"), None);
}

#[test]
fn conversations_are_what_streams() {
    for format in WireFormat::ALL {
        assert_eq!(
            format.streams(),
            format.kind() == RequestKind::Conversation,
            "{format:?}"
        );
    }
}
