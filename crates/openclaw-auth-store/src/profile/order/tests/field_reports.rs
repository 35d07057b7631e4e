//! Cases that users of failover software reported (beyond.md section 3).

use super::*;

#[test]
fn bl_44_an_id_carries_no_meaning() {
    let ids = ["anthropic:default", "zz", "aa"];
    for rotation in 0..ids.len() {
        let mut turned = ids;
        turned.rotate_left(rotation);
        let case = turned.iter().fold(Case::default(), |case, id| {
            case.stored("anthropic", json!({"id": id, "type": "api_key", "key": id}))
        });
        assert_eq!(case.order_of("anthropic"), turned.join(" "));
    }
}

/// BL-45, BL-46: the better credential is first again as soon as it may be used, whatever was used meanwhile.
#[test]
fn bl_45_bl_46_after_its_rest_the_first_of_an_order_is_first_again() {
    let order = json!({"order": {"anthropic": ["o1", "k1"]}});
    let case = Case::worked().config(order).used("o1", 1).used("k1", 90);
    let resting = case.resting("o1", Lane::Profile, 30);
    assert_eq!(resting.order_of("anthropic"), "k1 o1");
    let over = resting.resting("o1", Lane::Profile, 0);
    assert_eq!(over.order_of("anthropic"), "o1 k1");
}

/// BL-47
#[test]
fn bl_47_an_explicit_order_does_not_rotate() {
    let mut case = Case::worked().config(json!({"order": {"anthropic": ["k1", "k2"]}}));
    for second in 0..5 {
        assert_eq!(case.order_of("anthropic"), "k1 k2");
        case = case.used("k1", second);
    }
}

/// BL-49: a selection is recorded before the next one.
#[test]
fn bl_49_sessions_that_start_together_spread_evenly() {
    let mut case = Case::worked().stored("anthropic", json!({"id": "k3", "type": "api_key", "key": "f"}));
    case.store.profiles.retain(|id, _| id.as_str().starts_with('k'));
    let mut chosen = std::collections::BTreeMap::<String, u32>::new();
    for millisecond in 0..9 {
        let first = case.order_of("anthropic").split(' ').next().unwrap().to_owned();
        let used = crate::UsageChange::Used {
            profile: profile(&first),
        };
        let now = Timestamp::from_millisecond(NOW + millisecond).unwrap();
        case.store
            .apply(&used, now, &openclaw_cooldown::CooldownConfig::default());
        *chosen.entry(first).or_default() += 1;
    }
    assert_eq!(chosen.into_values().collect::<Vec<_>>(), [3, 3, 3]);
}

/// BL-50: a tier whose profiles all cool down does not keep the next one from being used.
#[test]
fn bl_50_when_every_stored_profile_is_disabled_the_next_source_is_the_usable_one() {
    let env = Credential::api_key(provider("anthropic"), Secret::new("k"));
    let mut case = Case::worked().ambient("anthropic:env", env);
    for id in ["k1", "k2", "t1", "o1"] {
        case = case.resting(id, Lane::Billing, 3_600);
    }
    let order = case.order_of("anthropic");
    let usable = |id: &&str| case.store.usage(&profile(id)).is_usable(None, at(0));
    assert_eq!(
        order.split(' ').filter(usable).collect::<Vec<_>>(),
        ["anthropic:env"]
    );
}

/// P5: the ids that other programs' logins have are ids like any other.
#[test]
fn p5_special_ids_are_ordinary_profiles() {
    for (id, asked) in [
        ("anthropic:claude-cli", "anthropic"),
        ("minimax-portal:minimax-cli", "minimax-portal"),
        ("openai:codex-cli", "openai"),
        ("openai:default", "openai"),
    ] {
        let case = Case::default()
            .stored(
                asked,
                json!({"id": id, "type": "oauth", "access": "a", "refresh": "r"}),
            )
            .stored(
                asked,
                json!({"id": "zz", "type": "oauth", "access": "b", "refresh": "s"}),
            );
        assert_eq!(case.order_of(asked), format!("{id} zz"));
        assert_eq!(
            case.used(id, 5).order_of(asked),
            format!("zz {id}"),
            "none is preferred"
        );
    }
}

#[test]
fn bl_43_the_least_recently_used_takes_its_turn() {
    let mut case = (0..3).fold(Case::default(), |case, n| {
        case.stored("p", json!({"id": format!("k{n}"), "type": "api_key", "key": "x"}))
    });
    let mut served: IndexMap<String, u32> = IndexMap::new();
    for turn in 0..9 {
        let order = case.order_of("p");
        let first = order.split(' ').next().unwrap().to_owned();
        case = case.used(&first, turn);
        *served.entry(first).or_default() += 1;
    }
    assert_eq!(served.into_values().collect::<Vec<_>>(), [3, 3, 3]);
}

#[test]
fn bl_48_what_an_order_leaves_out_is_told() {
    let report = |case: &Case| {
        let (aliases, asked) = (AuthAliases::default(), provider("anthropic"));
        let report = order_report(&case.store, &case.config, &aliases, &asked, at(0));
        let passed_over = report.passed_over.iter();
        let passed_over = passed_over.map(|passed| format!("{} {}", passed.profile, passed.why.as_str()));
        (
            report.basis,
            report.order.len(),
            passed_over.collect::<Vec<_>>().join(", "),
        )
    };
    let key = json!({"provider": "anthropic", "mode": "api_key"});
    for (case, basis, tried, passed_over) in [
        (Case::worked(), OrderBasis::StoredProfiles, 4, ""),
        (
            Case::worked().agent_order("anthropic", &["k1", "lost", "gone", "lost"]),
            OrderBasis::AgentOrder,
            1,
            "lost profile_missing, gone profile_missing, k2 excluded_by_auth_order, \
             t1 excluded_by_auth_order, o1 excluded_by_auth_order",
        ),
        (
            Case::worked().config(json!({"order": {"anthropic": []}})),
            OrderBasis::ConfigOrder,
            0,
            "k1 excluded_by_auth_order, k2 excluded_by_auth_order, t1 excluded_by_auth_order, \
             o1 excluded_by_auth_order",
        ),
        (
            Case::worked().config(json!({"profiles": {"k1": key, "t1": key}})),
            OrderBasis::ConfiguredProfiles,
            1,
            "t1 mode_mismatch, k2 excluded_by_auth_order, o1 excluded_by_auth_order",
        ),
        (
            Case::worked().agent_order("anthropic", &["gone"]),
            OrderBasis::StoredProfiles,
            4,
            "gone profile_missing",
        ),
        (
            Case::worked()
                .ambient(
                    "anthropic:env",
                    Credential::api_key(provider("anthropic"), Secret::new("x")),
                )
                .agent_order("anthropic", &["k1", "k2", "t1", "o1"]),
            OrderBasis::AgentOrder,
            4,
            "anthropic:env excluded_by_auth_order",
        ),
    ] {
        assert_eq!(report(&case), (basis, tried, passed_over.to_owned()));
    }
}
