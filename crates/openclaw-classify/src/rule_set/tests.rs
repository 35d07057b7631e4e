//! User rules: their conditions, their order, and the errors for mistakes.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{AbortedBy, Certainty, Failure, Owner, Reason, RuleSet, Scope, Transport, Verdict, rules};

fn set(rules: &Value) -> RuleSet {
    RuleSet::with_rules(rules).unwrap()
}

fn verdict(set: &RuleSet, failure: &Failure) -> Verdict {
    set.classify(failure, Timestamp::UNIX_EPOCH).unwrap()
}

fn said(provider: &str, status: u16, code: &str, message: &str) -> Failure {
    let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    Failure {
        provider: openclaw_ids::ProviderId::try_new(provider).ok(),
        status: Some(status).filter(|status| *status > 0),
        code: some(code),
        message: some(message),
        ..Failure::default()
    }
}

#[test]
fn c_1_3_each_condition_alone_decides_and_is_the_evidence() {
    for (rule, field, matched) in [
        (json!({"provider": "ACME"}), "status", "418"),
        (json!({"status": 418}), "status", "418"),
        (json!({"status": ["400-403", "410-419"]}), "status", "418"),
        (json!({"code": "Out-Of-Tea"}), "code", "out_of_tea"),
        (
            json!({"text": "kettle is (cold|empty)"}),
            "message",
            "kettle is empty",
        ),
        (
            json!({"text": ["nothing", "Isn\'t  .. FILLED"]}),
            "message",
            "isn't yet filled",
        ),
        (
            json!({"provider": ["other", "acme"], "status": "400-499", "code": "outoftea", "text": "kettle*"}),
            "message",
            "kettle",
        ),
    ] {
        let mut rule = rule;
        rule["id"] = json!("acme.tea");
        rule["reason"] = json!("overloaded");
        let set = set(&json!([rule]));
        let failure = said(
            "acme",
            418,
            "out_of_tea",
            "The Kettle is empty, it isn’t yet filled",
        );
        let verdict = verdict(&set, &failure);
        let evidence = verdict.evidence.unwrap();
        assert_eq!(verdict.rule.as_str(), "acme.tea", "{rule}");
        assert_eq!(
            (verdict.reason, verdict.certainty),
            (Reason::Overloaded, Certainty::Explicit)
        );
        assert_eq!(
            (evidence.field, evidence.matched.as_str()),
            (field, matched),
            "{rule}"
        );
    }
}

#[test]
fn c_1_3_all_conditions_must_hold() {
    let set = set(&json!([{
        "id": "acme.tea", "provider": "acme", "status": 418, "code": "tea", "text": "kettle", "unless": "coffee",
        "reason": "overloaded",
    }]));
    for (failure, expected) in [
        (said("acme", 418, "tea", "the kettle"), "acme.tea"),
        (said("other", 418, "tea", "the kettle"), "label.unclassified"),
        (said("acme", 419, "tea", "the kettle"), "label.unclassified"),
        (said("acme", 418, "milk", "the kettle"), "label.unclassified"),
        (said("acme", 418, "tea", "the cup"), "label.unclassified"),
        (
            said("acme", 418, "tea", "the kettle, or coffee"),
            "label.unclassified",
        ),
    ] {
        assert_eq!(verdict(&set, &failure).rule.as_str(), expected, "{failure:?}");
    }
}

#[test]
fn c_10_a_scope_is_the_default_one_unless_given() {
    for (scope, owner, expected) in [
        (Value::Null, Owner::Credential, Scope::Model),
        (json!("model"), Owner::Credential, Scope::Model),
        (json!("profile"), Owner::Credential, Scope::Profile),
        (json!("endpoint"), Owner::Network, Scope::Endpoint),
        (json!("none"), Owner::Credential, Scope::None),
    ] {
        let mut rule = json!({"id": "x", "status": 418, "reason": "rate_limit"});
        if !scope.is_null() {
            rule["scope"] = scope;
        }
        let verdict = verdict(&set(&json!([rule])), &said("", 418, "", ""));
        assert_eq!((verdict.owner, verdict.scope), (owner, expected), "{rule}");
    }
}

#[test]
fn c_3_a_user_s_rules_come_in_their_order_before_the_shipped_ones() {
    let set = set(&json!([
        {"id": "mine.first", "text": "rate limit", "status": 429, "reason": "overloaded"},
        {"id": "mine.second", "text": "rate limit", "reason": "billing"},
    ]));
    for (status, expected) in [(429, "mine.first"), (500, "mine.second")] {
        let failure = said("openai", status, "insufficient_quota", "rate limit");
        assert_eq!(verdict(&set, &failure).rule.as_str(), expected);
    }
    let ids: Vec<&str> = set.ids().map(crate::RuleId::as_str).collect();
    let mine = ids.iter().position(|id| *id == "mine.first").unwrap();
    assert_eq!(ids[mine + 1], "mine.second");
    assert!(
        ids[..mine]
            .iter()
            .all(|id| id.starts_with("transport.") || id.starts_with("local."))
    );
    assert_eq!(ids.len(), rules().count() + 2);
}

#[test]
fn c_3_no_user_rule_overrides_an_abort() {
    let set = set(&json!([{"id": "mine.all", "text": "cancelled", "reason": "billing"}]));
    let failure = Failure {
        transport: Some(Transport::Aborted(AbortedBy::Caller)),
        ..said("", 0, "", "cancelled")
    };
    assert_eq!(verdict(&set, &failure).reason, Reason::Aborted);
}

#[test]
fn c_2_4_a_user_s_rule_reads_pages_and_what_is_quoted() {
    let set = set(&json!([
        {"id": "mine.page", "text": "down for maintenance", "reason": "overloaded"},
        {"id": "mine.upstream", "text": "purse is light", "reason": "billing"},
    ]));
    let page = said(
        "",
        503,
        "",
        "<html><body><h1>Down for maintenance</h1></body></html>",
    );
    assert_eq!(verdict(&set, &page).rule.as_str(), "mine.page");
    let quoted = said("", 502, "", "Error from provider: the purse is light");
    assert_eq!(verdict(&set, &quoted).reason, Reason::Billing);
}

#[test]
fn c_6_a_provider_may_be_named_by_its_host() {
    let set = set(&json!([{"id": "mine.host", "provider": "llm.acme.example", "reason": "overloaded"}]));
    for (host, expected) in [
        ("llm.acme.example", "mine.host"),
        ("eu.llm.acme.example:8443", "mine.host"),
        ("evil-llm.acme.example", "label.unclassified"),
    ] {
        let failure = Failure {
            host: Some(host.to_owned()),
            ..said("", 418, "", "no tea")
        };
        assert_eq!(verdict(&set, &failure).rule.as_str(), expected, "{host}");
    }
}

#[test]
fn without_a_match_the_shipped_rules_decide() {
    let set = set(&json!([{"id": "mine.never", "code": "never_sent", "reason": "local"}]));
    for rule in rules() {
        let failure = rule.example.failure();
        assert_eq!(verdict(&set, &failure).rule.as_str(), rule.id);
    }
    assert_eq!(RuleSet::shipped().ids().count(), rules().count());
}

#[test]
fn a_bad_rule_is_an_error_that_names_it() {
    let good = json!({"id": "good.one", "status": 418, "reason": "timeout"});
    let mut lines = Vec::new();
    for bad in [
        json!("not an object"),
        json!({"reason": "timeout", "status": 418}),
        json!({"id": "a", "status": 418}),
        json!({"id": "a", "reason": "timeout"}),
        json!({"id": "a", "reason": "timeout", "unless": "x"}),
        json!({"id": "A B", "reason": "timeout", "status": 418}),
        json!({"id": "good.one", "reason": "timeout", "status": 418}),
        json!({"id": "billing.code", "reason": "timeout", "status": 418}),
        json!({"id": "a", "reason": "rate-limit", "status": 418}),
        json!({"id": "a", "reason": 3, "status": 418}),
        json!({"id": "a", "reason": "timeout", "scope": "galaxy", "status": 418}),
        json!({"id": "a", "reason": "timeout", "status": 42}),
        json!({"id": "a", "reason": "timeout", "status": "599-500"}),
        json!({"id": "a", "reason": "timeout", "status": []}),
        json!({"id": "a", "reason": "timeout", "code": "--"}),
        json!({"id": "a", "reason": "timeout", "provider": ["acme", ""]}),
        json!({"id": "a", "reason": "timeout", "text": "limit (reached|hit"}),
        json!({"id": "a", "reason": "timeout", "text": "limit)("}),
        json!({"id": "a", "reason": "timeout", "text": "limit .. *"}),
        json!({"id": "a", "reason": "timeout", "text": "x".repeat(201)}),
        json!({"id": "a", "reason": "timeout", "text": "(a|b|c|d)".repeat(5)}),
        json!({"id": "a", "reason": "timeout", "pattern": "limit"}),
    ] {
        let error = RuleSet::with_rules(&json!([good, bad])).unwrap_err();
        lines.push(error.to_string());
    }
    lines.push(RuleSet::with_rules(&json!({})).unwrap_err().to_string());
    lines.push(
        RuleSet::with_rules(&json!(vec![good; 501]))
            .unwrap_err()
            .to_string(),
    );
    insta::assert_snapshot!("bad_rules", lines.join("\n"));
}

#[test]
fn the_most_user_rules_fit() {
    assert!(rules().count() + super::MAX_RULES <= crate::engine::MAX_ROWS);
}
