//! The rotation order, rule by rule.

mod field_reports;
mod oracle;

use indexmap::IndexMap;
use openclaw_classify::Reason;
use openclaw_cooldown::{Lane, ProfileUsage, Window};
use serde_json::{Value, json};

use super::*;
use crate::Secret;

const NOW: i64 = 1_750_000_000_000;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millisecond(NOW + seconds * 1_000).unwrap()
}

fn profile(id: &str) -> ProfileId {
    ProfileId::try_new(id).unwrap()
}

fn provider(id: &str) -> ProviderId {
    ProviderId::try_new(id).unwrap()
}

/// One situation of section 12: k1 and k2 are keys, t1 a token and o1 a login, all of anthropic.
#[derive(Default)]
struct Case {
    store: AuthSnapshot,
    config: AuthConfig,
    preferred: Option<ProfileId>,
}

impl Case {
    fn worked() -> Self {
        let mut case = Self::default();
        for entry in [
            json!({"id": "k1", "type": "api_key", "key": "a"}),
            json!({"id": "k2", "type": "api_key", "key": "b"}),
            json!({"id": "t1", "type": "token", "token": "c"}),
            json!({"id": "o1", "type": "oauth", "access": "d", "refresh": "e"}),
        ] {
            case = case.stored("anthropic", entry);
        }
        case
    }

    fn stored(mut self, provider: &str, mut entry: Value) -> Self {
        let id = profile(entry["id"].as_str().unwrap());
        entry["provider"] = provider.into();
        self.store
            .profiles
            .insert(id, Credential::from_json(&entry).unwrap());
        self
    }

    fn ambient(mut self, id: &str, credential: Credential) -> Self {
        self.store.ambient.insert(profile(id), credential);
        self
    }

    fn used(mut self, id: &str, seconds: i64) -> Self {
        self.store.usage.update(&profile(id), |usage| ProfileUsage {
            last_used: Some(at(seconds)),
            ..usage
        });
        self
    }

    fn resting(mut self, id: &str, lane: Lane, seconds: i64) -> Self {
        let window = Window::new(at(-1), at(seconds), Reason::RateLimit);
        self.store.usage.update(&profile(id), |mut usage| {
            usage.windows.insert(lane, window);
            usage
        });
        self
    }

    fn agent_order(mut self, key: &str, ids: &[&str]) -> Self {
        let ids = ids.iter().map(|id| profile(id)).collect();
        self.store.order.insert(provider(key), ids);
        self
    }

    fn config(mut self, auth: Value) -> Self {
        self.config = serde_json::from_value(auth).unwrap();
        self
    }

    fn prefers(mut self, id: &str) -> Self {
        self.preferred = Some(profile(id));
        self
    }

    fn order_of(&self, asked: &str) -> String {
        let order = rotation_order(
            &self.store,
            &self.config,
            &AuthAliases::default(),
            &provider(asked),
            self.preferred.as_ref(),
            at(0),
        );
        order.iter().map(ProfileId::as_str).collect::<Vec<_>>().join(" ")
    }
}

#[test]
fn worked_results_of_12() {
    let configured = |rows: Value| json!({"profiles": rows});
    let key = json!({"provider": "anthropic", "mode": "api_key"});
    for (situation, case, order) in [
        ("R4, R10: nothing else", Case::worked(), "o1 t1 k1 k2"),
        (
            "R10: lastUsed k1=10, k2=5",
            Case::worked().used("k1", 10).used("k2", 5),
            "o1 t1 k2 k1",
        ),
        (
            "R10: o1 cooling 900 s, t1 disabled 100 s",
            Case::worked()
                .resting("o1", Lane::Profile, 900)
                .resting("t1", Lane::Billing, 100),
            "k1 k2 t1 o1",
        ),
        (
            "R6, R8: config order with a missing, a doubled and a foreign id",
            Case::worked()
                .stored(
                    "openai",
                    json!({"id": "other-provider", "type": "api_key", "key": "x"}),
                )
                .config(json!({"order": {"Anthropic": ["k2", "o1", "missing", "k2", "other-provider"]}})),
            "k2 o1",
        ),
        (
            "R2: store order before config order",
            Case::worked()
                .agent_order("anthropic", &["t1"])
                .config(json!({"order": {"anthropic": ["k2", "o1"]}})),
            "t1",
        ),
        (
            "R5: config order []",
            Case::worked().config(json!({"order": {"anthropic": []}})),
            "",
        ),
        (
            "R9: config order, k2 cooling 500 s, o1 cooling 100 s",
            Case::worked()
                .config(json!({"order": {"anthropic": ["k2", "o1", "k1"]}}))
                .resting("k2", Lane::Profile, 500)
                .resting("o1", Lane::Profile, 100),
            "k1 o1 k2",
        ),
        (
            "R12: preferred k2 cooling",
            Case::worked()
                .config(json!({"order": {"anthropic": ["k1", "k2"]}}))
                .resting("k2", Lane::Profile, 500)
                .prefers("k2"),
            "k2 k1",
        ),
        (
            "R3, R5: config profiles, t1 with another mode",
            Case::worked().config(configured(json!({"k1": key, "t1": key}))),
            "k1",
        ),
        (
            "R7: config profile ids all missing",
            Case::worked().config(configured(json!({"gone": key}))),
            "o1 t1 k1 k2",
        ),
        (
            "R7: config order all missing, no config profiles",
            Case::worked().config(json!({"order": {"anthropic": ["gone"]}})),
            "",
        ),
        (
            "R7: config order all missing, config profiles all missing",
            Case::worked().config(json!({"order": {"anthropic": ["gone"]}, "profiles": {"lost": key}})),
            "o1 t1 k1 k2",
        ),
        (
            "R7: store order all missing",
            Case::worked().agent_order("anthropic", &["gone"]),
            "o1 t1 k1 k2",
        ),
        (
            "R7: config profile k1 present with empty key",
            Case::worked()
                .stored("anthropic", json!({"id": "k1", "type": "api_key", "key": ""}))
                .config(configured(json!({"k1": key}))),
            "",
        ),
        (
            "R12: preferred not in the list",
            Case::worked().prefers("gone"),
            "o1 t1 k1 k2",
        ),
        (
            "R12: preferred keeps the rest in order",
            Case::worked().prefers("k1"),
            "k1 o1 t1 k2",
        ),
    ] {
        assert_eq!(case.order_of("anthropic"), order, "{situation}");
    }
}

#[test]
fn r1_a_window_that_is_over_does_not_count() {
    let case = Case::worked()
        .resting("o1", Lane::Profile, 0)
        .resting("t1", Lane::Billing, -5);
    assert_eq!(case.order_of("anthropic"), "o1 t1 k1 k2");
}

#[test]
fn r11_a_window_of_one_model_moves_the_profile_back_for_all() {
    let model = Lane::Model("m".parse().unwrap());
    let case = Case::worked()
        .resting("o1", model, 60)
        .resting("t1", Lane::Profile, 0);
    assert_eq!(case.order_of("anthropic"), "t1 k1 k2 o1");
}

#[test]
fn r13_aliases_share_profiles_and_the_shared_name_comes_first() {
    let case = Case::default()
        .stored("minimax", json!({"id": "m1", "type": "api_key", "key": "a"}))
        .stored("minimax-cn", json!({"id": "m2", "type": "api_key", "key": "b"}));
    assert_eq!(case.order_of("minimax"), "m1 m2");
    assert_eq!(case.order_of("minimax-cn"), "m1 m2");
    let case = case.agent_order("minimax-cn", &["m2"]);
    assert_eq!(case.order_of("minimax-cn"), "m2");
    assert_eq!(case.order_of("minimax"), "m1 m2");
    let case = case.agent_order("minimax", &["m1"]);
    assert_eq!(case.order_of("minimax-cn"), "m1");
}

#[test]
fn x4_ambient_profiles_follow_unless_an_order_names_the_provider() {
    let key = |text: &str| Credential::api_key(provider("anthropic"), Secret::new(text));
    let ambient = |case: Case| {
        case.ambient("anthropic:config", key("x"))
            .ambient("anthropic:env", key("y"))
            .ambient(
                "openai:env",
                Credential::api_key(provider("openai"), Secret::new("z")),
            )
    };
    let nobody = ambient(Case::default());
    assert_eq!(nobody.order_of("anthropic"), "anthropic:config anthropic:env");
    let worked = ambient(Case::worked()).resting("k1", Lane::Profile, 5);
    assert_eq!(
        worked.order_of("anthropic"),
        "o1 t1 k2 k1 anthropic:config anthropic:env"
    );
    let worked = worked.resting("anthropic:config", Lane::Profile, 5);
    assert_eq!(
        worked.order_of("anthropic"),
        "o1 t1 k2 k1 anthropic:env anthropic:config"
    );
    let ordered = ambient(Case::worked()).agent_order("anthropic", &["k1", "anthropic:env"]);
    assert_eq!(ordered.order_of("anthropic"), "k1 anthropic:env");
    let shadowed = ambient(Case::worked()).stored(
        "anthropic",
        json!({"id": "anthropic:env", "type": "oauth", "access": "s"}),
    );
    assert_eq!(
        shadowed.order_of("anthropic"),
        "o1 anthropic:env t1 k1 k2 anthropic:config"
    );
    let local = Case::default().ambient("ollama:local", Credential::local(provider("ollama")));
    assert_eq!(local.order_of("ollama"), "ollama:local");
}

#[test]
fn x4_a_provider_with_a_key_is_none_that_needs_none() {
    let local = || Case::default().ambient("relay:local", Credential::local(provider("relay")));
    let stored = local().stored("relay", json!({"id": "k", "type": "api_key", "key": "a"}));
    assert_eq!(stored.order_of("relay"), "k");
    let config = Credential::api_key(provider("relay"), Secret::new("a".to_owned()));
    assert_eq!(
        local().ambient("relay:config", config).order_of("relay"),
        "relay:config"
    );
}

#[test]
fn cloud_credentials_need_no_stored_profile_when_the_provider_says_so() {
    let mut case = Case::default().config(json!({
        "profiles": {"bedrock:default": {"provider": "amazon-bedrock", "mode": "aws-sdk"}}
    }));
    assert_eq!(case.order_of("amazon-bedrock"), "");
    case.config.aws_sdk.insert(provider("amazon-bedrock"));
    assert_eq!(case.order_of("amazon-bedrock"), "bedrock:default");
}

#[test]
fn r2_what_a_person_wrote_is_explicit_until_none_of_it_exists() {
    let explicit = |case: &Case| {
        let (aliases, asked) = (AuthAliases::default(), provider("anthropic"));
        let report = order_report(&case.store, &case.config, &aliases, &asked, at(0));
        report.basis.is_explicit()
    };
    let empty = json!({"order": {"anthropic": []}});
    for (case, expected) in [
        (Case::worked(), false),
        (Case::worked().config(empty), true),
        (Case::worked().agent_order("anthropic", &["k1"]), true),
        (Case::worked().agent_order("anthropic", &["gone"]), false),
    ] {
        assert_eq!(explicit(&case), expected);
    }
}
