//! A `sessions.json` of any text is read or refused, keeps what it does not know, and takes choices without a trace of the old ones (S7, S-8).
#![no_main]

use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;
use openclaw_ids::{ModelRef, ProfileId, SessionKey};
use openclaw_session::{
    MemorySessionStore, MergeOutcome, FallbackChoice, PersistOutcome, ProfileChoice, Reset, Revision, SessionEntry, SessionStore,
    UserSelection, apply_user_selection, record_compaction, export_sessions_json, merge, parse_command, parse_sessions_json,
    persist_fallback, reset, roll_back,
};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

thread_local! {
    static RUNTIME: Runtime = Builder::new_current_thread().build().expect("nothing else is needed");
}

fuzz_target!(|data: &[u8]| {
    let [choice, seconds, data @ ..] = data else { return };
    let text = String::from_utf8_lossy(data);
    if let Some(command) = parse_command(&text) {
        drop(command.map_err(|error| error.to_string()));
    }
    let Ok(found) = parse_sessions_json(&text) else { return };
    for (place, (key, _)) in found.entries.iter().enumerate() {
        assert!(found.entries[..place].iter().all(|(other, _)| other != key), "each key once: {key}");
    }
    let now = Timestamp::from_second(1_772_366_400 + i64::from(*seconds)).expect("a time");
    for (_, entry) in &found.entries {
        same_when_read_again(entry);
        choose(entry, *choice, now);
        fall_back(entry, now);
    }
    RUNTIME.with(|runtime| runtime.block_on(exported(&found.entries)));
});

fn model(text: &str) -> ModelRef {
    text.parse().expect("a model")
}

fn json(entry: &SessionEntry) -> Value {
    serde_json::to_value(entry).expect("an entry is JSON")
}

fn same_when_read_again(entry: &SessionEntry) {
    let again: SessionEntry = serde_json::from_value(json(entry)).expect("what is written can be read");
    assert_eq!(&again, entry);
    let text = json(entry).to_string();
    assert_eq!(serde_json::from_str::<SessionEntry>(&text).ok().as_ref(), Some(entry));
}

/// The members of an entry that only its writer knows.
fn others(entry: &SessionEntry) -> Vec<(String, Value)> {
    let Value::Object(members) = json(entry) else { return Vec::new() };
    members.into_iter().filter(|(name, _)| name.starts_with("x-")).collect()
}

fn choose(entry: &SessionEntry, choice: u8, now: Timestamp) {
    let profile: Option<ProfileId> = "openai:work".parse().ok();
    let selection = match choice % 4 {
        0 => UserSelection::default_model(),
        1 => UserSelection::model(model("openai/gpt"), profile),
        2 => UserSelection::model(model("groq/llama"), None),
        _ => UserSelection::cleared(ProfileChoice::Keep),
    };
    let configured = model("anthropic/claude");
    let chosen = apply_user_selection(entry, &selection, &configured, now);
    let next = chosen.unwrap_or_else(|| entry.clone());
    same_when_read_again(&next);
    assert!(!next.is_auto() && !next.is_active_fallback(), "nothing of an automatic override survives: {next:?}");
    assert_eq!(next.origin(), None, "not even its origin");
    assert_eq!(others(&next), others(entry), "unknown members stay");
    assert_eq!(apply_user_selection(&next, &selection, &configured, now), None, "chosen once is chosen");
    match merge(entry, &next, entry) {
        MergeOutcome::Applied(merged) => assert_eq!(merged.selection(), next.selection(), "there was no other writer"),
        other => panic!("there was no other writer: {other:?}"),
    }
    let id = "another".parse().expect("an id");
    let over = reset(&next, id, &Reset::NewSession, now);
    same_when_read_again(&over);
    assert!(!over.has_auto_provenance() && !over.is_active_fallback(), "a new session has no fallback");
    assert_eq!(over.is_user_pin(), next.is_user_pin(), "a person's model stays");
    assert_eq!(record_compaction(&next, None, now).selection(), next.selection(), "a compaction changes no choice");
}

fn fall_back(entry: &SessionEntry, now: Timestamp) {
    let change = FallbackChoice {
        session_id: entry.session_id.clone(),
        requested: model("anthropic/claude"),
        candidate: model("groq/llama"),
        profile: None,
        read: entry.selection(),
        origin: None,
    };
    let (written, persisted) = persist_fallback(entry, &change, now);
    match persisted {
        PersistOutcome::Written(rollback) => {
            let written = written.expect("it was written");
            assert!(!entry.is_user_pin(), "a person's choice is never overwritten");
            same_when_read_again(&written);
            let back = roll_back(&written, &rollback, now).unwrap_or(written);
            assert_eq!(back.selection(), entry.selection(), "the way back leads back");
            let without_time = |entry: &SessionEntry| {
                let mut value = json(entry);
                value.as_object_mut().map(|members| members.shift_remove("updatedAt"));
                value
            };
            assert_eq!(without_time(&back), without_time(entry), "and nothing else changed");
        }
        PersistOutcome::Skipped(_) => assert_eq!(written, None),
    }
}

/// What is exported and read again is the same but for what only this crate knows.
async fn exported(entries: &[(SessionKey, SessionEntry)]) {
    let store = MemorySessionStore::default();
    for (key, entry) in entries {
        let stored = store.compare_and_set(key, Revision::NONE, entry.clone()).await;
        assert!(stored.is_ok());
    }
    let text = export_sessions_json(&store).await.expect("memory lists");
    let again = parse_sessions_json(&text).unwrap_or_else(|error| panic!("what is exported can be read: {error}"));
    assert_eq!(again.rejected, Vec::<String>::new());
    assert_eq!(again.entries.len(), entries.len());
    for (key, entry) in &again.entries {
        let known = entries.iter().find(|(other, _)| other == key);
        let (_, known) = known.unwrap_or_else(|| panic!("{key} was not there"));
        let mut known = json(known);
        known.as_object_mut().map(|members| members.shift_remove("failover"));
        assert_eq!(json(entry), known, "{key}");
    }
}
