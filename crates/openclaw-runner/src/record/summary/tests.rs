//! The final error in its combinations.

use super::*;

fn record(model: &str, reason: Option<Reason>, error: &str) -> AttemptRecord {
    AttemptRecord {
        candidate: model.parse().unwrap(),
        error: error.to_owned(),
        reason,
        rule: None,
        status: None,
        code: None,
        auth_mode: None,
        outcome: CandidateOutcome::Failed,
        earlier: Vec::new(),
        fields: ErrorFields::default(),
    }
}

fn message(attempts: Vec<AttemptRecord>, provider: Option<&str>) -> String {
    let reauthenticate = provider.map(|provider| provider.parse().unwrap());
    FallbackSummaryError {
        attempts,
        kind: ChainKind::Text,
        soonest_cooldown_expiry: None,
        reauthenticate,
    }
    .to_string()
}

#[test]
fn r_10_2_message() {
    let two = vec![
        record("anthropic/claude", Some(Reason::RateLimit), "slow down"),
        record("openrouter/openrouter/auto", None, "strange"),
    ];
    assert_eq!(
        message(two, None),
        "All models failed (2): anthropic/claude: slow down (rate_limit) | openrouter/auto: strange"
    );
    assert_eq!(message(Vec::new(), None), "All models failed (0): unknown");
}

#[test]
fn r_10_2_the_hint_quotes_the_provider_for_a_shell() {
    let hint = |provider| message(Vec::new(), Some(provider));
    assert_eq!(
        hint("open'ai"),
        r"All models failed (0): unknown. Re-authenticate with: openclaw models auth login --provider 'open'\''ai' --force"
    );
    assert_eq!(hint("open\u{7}ai"), "All models failed (0): unknown");
}

#[test]
fn r_10_2_bl_82_messages_for_combinations_of_reasons() {
    use Reason::{Auth, AuthPermanent, Billing, ContextOverflow, Overloaded, RateLimit, Timeout};
    let models = ["anthropic/claude", "openai/gpt", "groq/llama"];
    let mut shown = String::new();
    for (reasons, signed_out) in [
        (&[Some(RateLimit), Some(RateLimit)][..], None),
        (&[Some(RateLimit), Some(Overloaded)], None),
        (&[Some(Billing), Some(Billing)], None),
        (&[Some(Auth), Some(AuthPermanent)], Some("openai")),
        (&[Some(Billing), Some(Timeout), Some(Auth)], Some("groq")),
        (&[Some(RateLimit), Some(ContextOverflow), None], None),
        (&[Some(Timeout)], None),
    ] {
        let attempts = reasons.iter().zip(models);
        let attempts = attempts.map(|(reason, model)| record(model, *reason, "it said so"));
        shown.push_str(&message(attempts.collect(), signed_out));
        shown.push('\n');
    }
    insta::assert_snapshot!(shown);
}
