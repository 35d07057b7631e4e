//! Any failure, with any bytes in it, has the same verdict twice, and no public function panics (C-1.4).
#![no_main]

use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;
use openclaw_classify::{
    Failure, Header, RuleSet, classify, describe, observe, observed_tokens, preview, redact, reset_hint,
};
use openclaw_ids::ProviderId;

/// Providers with their own rules, and no provider.
const PROVIDERS: &[&str] = &["", "openrouter", "zai", "minimax", "dashscope", "google", "amazon-bedrock", "xai"];
const STATUSES: &[Option<u16>] = &[None, Some(200), Some(400), Some(401), Some(402), Some(403), Some(404), Some(429), Some(503)];

fuzz_target!(|data: &[u8]| {
    let (Some(first), Some(second)) = (data.first(), data.get(1)) else { return };
    let text = String::from_utf8_lossy(&data[2..]).into_owned();
    let mut failure = Failure {
        provider: ProviderId::try_new(PROVIDERS[usize::from(*first) % PROVIDERS.len()]).ok(),
        status: STATUSES[usize::from(*second) % STATUSES.len()],
        ..Failure::default()
    };
    match first >> 5 {
        0 => failure.body = Some(data[2..].to_vec()),
        1 => failure.code = Some(text.clone()),
        2 => failure.kind = Some(text.clone()),
        3 => failure.headers = vec![Header { name: "retry-after".into(), value: text.clone() }],
        4 => failure.headers = vec![Header { name: text.clone(), value: "120".into() }],
        5 => failure.cause = Some(Box::new(Failure { message: Some(text.clone()), ..Failure::default() })),
        _ => failure.message = Some(text.clone()),
    }
    let now = Timestamp::UNIX_EPOCH;
    let verdict = classify(&failure, now);
    assert_eq!(verdict, classify(&failure, now));
    if let Some(evidence) = verdict.and_then(|verdict| verdict.evidence) {
        assert!(evidence.matched.encode_utf16().count() <= 201, "evidence is bounded");
    }
    reset_hint(&failure, now);
    observe(&failure);
    observed_tokens(&failure);
    describe(&failure);
    redact(&text);
    assert!(preview(&text, 80).encode_utf16().count() <= 81, "a preview is bounded");
    if let Ok(rules) = serde_json::from_str(&text) {
        let _ = RuleSet::with_rules(&rules).map(|set| set.classify(&failure, now));
    }
});
