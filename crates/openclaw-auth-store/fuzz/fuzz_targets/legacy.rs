//! Older files of any text are brought in whole or noted as unreadable, once, and never with their secrets in an error (G21 to G28).
#![no_main]

use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;
use openclaw_auth_store::fuzzing::Tables;
use openclaw_auth_store::{Credential, LegacyProfiles, LegacyFile, LegacyTexts};
use serde_json::Value;

thread_local! {
    static TABLES: Tables = Tables::empty().expect("memory is enough");
}

fuzz_target!(|data: &[u8]| {
    let [kind, rest @ ..] = data else { return };
    let texts: Vec<Option<&str>> = rest.split(|byte| *byte == 0).map(|part| std::str::from_utf8(part).ok()).collect();
    let text = |place: usize| texts.get(place).copied().flatten();
    let now = Timestamp::from_second(1_772_366_400).expect("a time");
    let legacy = if kind % 4 == 0 {
        LegacyProfiles::oauth(text(0).unwrap_or_default())
    } else {
        let texts = LegacyTexts { profiles: text(0), state: text(1), auth: text(2) };
        let legacy = LegacyProfiles::read(texts);
        for (file, text) in [(LegacyFile::Profiles, text(0)), (LegacyFile::State, text(1)), (LegacyFile::Auth, text(2))] {
            let is_object = text.is_none_or(|text| matches!(serde_json::from_str(text), Ok(Value::Object(_))));
            assert_eq!(legacy.unreadable().contains(&file), !is_object, "what cannot be read is noted: {file:?}");
        }
        legacy
    };
    for (id, credential) in legacy.profiles() {
        assert!(!id.as_str().trim().is_empty());
        let written = credential.to_json().expect("what a file held needs a credential");
        assert_eq!(Credential::from_json(&written).as_ref(), Ok(credential), "what is written reads the same");
    }
    TABLES.with(|tables| {
        tables.fill(None, None, &[]).expect("nothing is in the way");
        let imported = tables.import(&legacy, now).expect("empty tables take it");
        for (id, credential) in legacy.profiles() {
            assert_eq!(imported.profiles.get(id), Some(credential), "{id} was brought in");
        }
        assert_eq!(tables.read().as_ref(), Ok(&imported), "the tables say what memory says");
        let texts = tables.texts().expect("they are texts");
        let again = tables.import(&legacy, now).expect("it was taken before");
        assert_eq!(again, imported, "bringing in twice changes nothing");
        assert_eq!(tables.texts().expect("they are texts"), texts);
    });
});
