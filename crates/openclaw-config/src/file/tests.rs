//! Errors name the file, the place and the key.

use serde::Deserialize;

use super::*;

#[derive(Debug, Deserialize)]
struct Sample {
    #[expect(dead_code, reason = "only whether it can be read matters")]
    list: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    #[expect(dead_code, reason = "only whether it can be read matters")]
    size: u8,
}

fn sample(text: &str) -> Result<Sample, FileError> {
    let path = Path::new("/c/openclaw.json");
    parse_root(path, text)?;
    parse_as(path, text)
}

#[test]
fn what_is_wrong_and_where() {
    for (text, expected) in [
        (
            "{ list: [{ size: 1 },\n  { size: 'a' }] }",
            "/c/openclaw.json:2:11: list[1].size: ",
        ),
        (
            "{ list: [\n{ size: 256 }] }",
            "/c/openclaw.json:2:9: list[0].size: ",
        ),
        ("{ list: 3 }", "/c/openclaw.json:1:9: list: "),
        ("{ list: [1, }", "/c/openclaw.json:1:13: expected "),
        ("{ list: [] } x", "/c/openclaw.json:1:14: trailing characters"),
        ("// nothing\n", "/c/openclaw.json:2:1: EOF parsing value"),
        (
            "[]",
            "/c/openclaw.json:1:1: this is not an object; the file must be one JSON5 object",
        ),
    ] {
        let error = sample(text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{text}: {error}");
        assert_eq!(error.matches(" at line ").count(), 0, "{error}");
    }
}

#[test]
fn json5_and_unknown_keys_are_fine() {
    assert!(sample("{ /* a */ 'list': [ { size: 0x10, other: [{}], }, ], more: NaN, }").is_ok());
}

#[test]
fn a_value_that_looks_like_a_key_is_not_repeated() {
    let key = format!("sk-proj-{}", "a1B2".repeat(10));
    let error = sample(&format!("{{ list: [{{ size: '{key}' }}] }}")).unwrap_err();
    assert!(!error.to_string().contains(&key), "{error}");
}

#[test]
fn a_missing_file_is_none_and_an_unreadable_one_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    assert!(read(&directory.path().join("none.json")).unwrap().is_none());
    let error = read(directory.path()).unwrap_err();
    assert!(error.to_string().starts_with("cannot read "), "{error}");
    let latin = directory.path().join("latin.json");
    std::fs::write(&latin, b"{ a: '\xe9' }").unwrap();
    assert!(matches!(read(&latin), Err(FileError::Unreadable { .. })));
}
