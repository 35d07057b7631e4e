//! Rows of any text are read or refused without their secrets, and marks on top of them say what the pure fold says (X-5, D13).
#![no_main]

use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;
use openclaw_auth_store::fuzzing::Tables;
use openclaw_auth_store::{AuthSnapshot, EndpointKey, UsageChange};
use openclaw_classify::Reason;
use openclaw_cooldown::{FailureEvent, MarkScope, ProfileUsage, SuccessEvent};
use openclaw_ids::{ModelId, ProfileId, ProviderId};
use serde_json::Value;

/// Stands in seeds where a secret would, and must stand in no error.
const SECRET: &str = "sk-fuzz-secret";
const KEYS: &[&str] = &[
    "usage:openai:work",
    "endpoint:openai https://api.openai.test/v1",
    "probe:openai",
    "refresh:openai:work",
    "later:unknown",
    "usage: ",
];

thread_local! {
    static TABLES: Tables = Tables::empty().expect("memory is enough");
}

fuzz_target!(|data: &[u8]| {
    let [first, second, rest @ ..] = data else { return };
    let mut parts = rest.split(|byte| *byte == 0);
    let (store, state) = (parts.next(), parts.next());
    let rows: Vec<(&str, &[u8])> = KEYS.iter().copied().zip(parts).filter(|(_, text)| !text.is_empty()).collect();
    TABLES.with(|tables| {
        tables.fill(store.filter(|text| !text.is_empty()), state.filter(|text| !text.is_empty()), &rows).expect("any text can be stored");
        let before = match tables.read() {
            Ok(before) => before,
            Err(error) => {
                assert!(!error.contains(SECRET), "a secret in an error: {error}");
                assert!(error.len() < 400, "{error}");
                return;
            }
        };
        assert_eq!(tables.read().as_ref(), Ok(&before), "reading changes nothing");
        let was = tables.texts().expect("they are texts");
        let now = at(u32::from(*second) * 977);
        let changes = changes(*first, now);
        let after = tables.mark(&changes, now).expect("what can be read can be written");
        let read = tables.read().unwrap_or_else(|error| panic!("what was written can be read: {error}"));
        for change in &changes {
            // What is left of a profile that is gone goes with the next write.
            if let Some(id) = change.profile().filter(|id| after.credential(id).is_some()) {
                assert_eq!(remembered(&read, id), remembered(&after, id), "the file says what memory says of {id}");
            }
        }
        assert_eq!(read.endpoints, after.endpoints);
        assert_eq!(read.probes, after.probes);
        assert_eq!(read.profiles, before.profiles, "marks change no credential");
        check_unknown(&was, &tables.texts().expect("they are texts"));
    });
});

/// A usage that knows nothing but whose it is has nothing to remember.
fn remembered(snapshot: &AuthSnapshot, id: &ProfileId) -> ProfileUsage {
    let usage = snapshot.usage(id).clone();
    let nothing = ProfileUsage { fingerprint: usage.fingerprint.clone(), ..ProfileUsage::default() };
    if usage == nothing { ProfileUsage::default() } else { usage }
}

fn at(second: u32) -> Timestamp {
    Timestamp::from_second(1_772_366_400 + i64::from(second)).expect("a time")
}

fn changes(first: u8, now: Timestamp) -> Vec<UsageChange> {
    let profile: ProfileId = "openai:work".parse().expect("an id");
    let provider: ProviderId = "openai".parse().expect("an id");
    let model: Option<ModelId> = "gpt".parse().ok();
    let endpoint = EndpointKey { provider: provider.clone(), base_url: "https://api.openai.test/v1".to_owned() };
    let reasons = [Reason::RateLimit, Reason::Billing, Reason::Auth, Reason::AuthPermanent, Reason::Overloaded];
    let reason = reasons[usize::from(first >> 4) % reasons.len()];
    let scope = if first & 8 == 0 { MarkScope::Model } else { MarkScope::Profile };
    let failure = UsageChange::Failure {
        profile: profile.clone(),
        event: FailureEvent { provider: provider.clone(), reason, scope, model: model.clone(), hint: None, started_at: None },
    };
    let all = [
        vec![failure.clone()],
        vec![UsageChange::Success { profile: profile.clone(), event: SuccessEvent { model, started_at: None } }],
        vec![UsageChange::EndpointFailure { endpoint: endpoint.clone(), started_at: None }],
        vec![UsageChange::EndpointSuccess { endpoint }],
        vec![UsageChange::ProbeStart { provider: provider.clone(), holder: "run#1".to_owned() }, failure],
        vec![UsageChange::ProbeEnd { provider, holder: "run#1".to_owned() }],
        vec![UsageChange::CoolDown { profile: profile.clone(), until: now }],
        vec![UsageChange::Clear { profile }],
    ];
    all[usize::from(first & 7)].clone()
}

/// Members that nothing here knows are there as they were (D13).
fn check_unknown(was: &[(String, String)], is: &[(String, String)]) {
    for (key, text) in was {
        let Ok(Value::Object(before)) = serde_json::from_str::<Value>(text) else { continue };
        let kept: Vec<_> = before.iter().filter(|(name, _)| name.starts_with("x-")).collect();
        let Some((_, text)) = is.iter().find(|(other, _)| other == key) else {
            assert!(kept.is_empty() || !key.starts_with("st"), "a shared row is gone with what it held: {key}");
            continue;
        };
        let after: Value = serde_json::from_str(text).expect("what is written is JSON");
        for (name, value) in kept {
            assert_eq!(after.get(name), Some(value), "{name} of {key}");
        }
    }
}
