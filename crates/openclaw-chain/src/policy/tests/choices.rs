//! Overrides, one-off models and channels: rows D to F, I, J and K.

use serde_json::json;

use super::*;

#[test]
fn s_2_2_automatic_overrides() {
    // F-4: the primary follows also where the configured list is empty, and stands once.
    let no_fallbacks = || case().defaults(json!({ "model": "p/p" }));
    check(
        &no_fallbacks().stored(auto("o/o")),
        S::AutoOverride,
        Some(&[]),
        "o+o; p+p",
    );
    check(
        &no_fallbacks().stored(auto("p/p")),
        S::AutoOverride,
        Some(&[]),
        "p+p",
    );
    // S-2.2d: without an origin it is ignored, for the list too.
    let legacy_auto = case().stored(StoredOverride::LegacyAuto);
    check(&legacy_auto, S::ConfiguredDefault, None, "p+p; groq+f");
    assert_eq!(legacy_auto.select().0.ignored, Some(IgnoredOverride::LegacyAuto));
}

/// The configured primary is the last candidate whenever a fallback wrote the override that is used, whatever list comes
/// before it, and stands once.
#[test]
fn f_4_the_primary_follows_an_automatic_override_of_every_kind_of_run() {
    let own = |setting: serde_json::Value| case().agent(json!({ "model": setting }));
    let subagents = json!({ "model": { "primary": "p/p", "fallbacks": ["groq/f"] },
        "subagents": { "model": { "primary": "s/s", "fallbacks": ["s/t"] } } });
    for (case, list, chain) in [
        (case(), &["groq/f"][..], "o+o; groq+f; p+p"),
        (own(json!("q/q")), &[], "o+o; q+q"),
        (own(json!({ "primary": "q/q", "fallbacks": [] })), &[], "o+o; q+q"),
        (
            own(json!({ "primary": "q/q", "fallbacks": ["a/b", "q/q"] })),
            &["a/b", "q/q"],
            "o+o; a+b; q+q",
        ),
        (case().channel("c/c"), &["groq/f"], "o+o; groq+f; c+c"),
        (case().inherited(), &["groq/f"], "o+o; groq+f; p+p"),
        (case().run(heartbeat(None)), &["groq/f"], "o+o; groq+f; p+p"),
        (
            case().run(heartbeat(Some("h/h"))),
            &["groq/f"],
            "h+h; groq+f; p+p",
        ),
        (own(json!("q/q")).run(cron(None, None)), &[], "o+o; q+q"),
        (
            case().run(RunKind::Subagent).defaults(subagents),
            &["s/t"],
            "o+o; s+t; s+s",
        ),
    ] {
        let case = case.stored(auto("o/o"));
        let (selection, candidates) = case.select();
        assert_eq!(selection.fallbacks.as_deref(), Some(&owned(list)[..]), "{chain}");
        assert_eq!(pairs(&candidates), chain, "{:#?}", selection.trace);
        assert!(!selection.strict, "{chain}");
    }
    // A person's choice and a run's own list stay exact.
    for case in [
        case().stored(user("o/o")),
        case().stored(legacy("o/o")),
        case().stored(auto("o/o")).run(cron(None, Some(&["z/z"]))),
        case()
            .stored(auto("o/o"))
            .run(one_off("x/y", OneOffPolicy::Strict)),
        case().stored(auto("o/o")).run(RunKind::MemoryFlush {
            model: "m/m".to_owned(),
        }),
    ] {
        assert_eq!(case.select().0.last, None, "{:?}", case.run);
    }
}

#[test]
fn s_2_1d_an_override_outside_the_allowlist_is_ignored() {
    let listed = json!({ "model": { "primary": "p/p", "fallbacks": ["groq/f"] }, "models": { "x/y": {} } });
    let with = |stored: StoredOverride| case().defaults(listed.clone()).stored(stored);
    for stored in [user("o/o"), legacy("o/o"), auto("o/o")] {
        let refused = with(stored);
        check(&refused, S::ConfiguredDefault, None, "p+p; groq+f");
        assert_eq!(refused.select().0.ignored, Some(IgnoredOverride::Disallowed));
    }
    for stored in [user("x/y"), auto("groq/f"), auto("p/p")] {
        assert_eq!(with(stored).select().0.ignored, None);
    }
    // A fallback that the configuration names is kept even where only a wildcard is listed (W4).
    let wildcard = json!({ "model": { "primary": "p/p", "fallbacks": ["groq/f"] }, "models": { "x/*": {} },
        "subagents": { "model": { "primary": "s/s", "fallbacks": ["s/t"] } } });
    for stored in [auto("groq/f"), auto("s/s"), auto("s/t"), auto("p/p")] {
        assert_eq!(
            case()
                .defaults(wildcard.clone())
                .stored(stored)
                .select()
                .0
                .ignored,
            None
        );
    }
    let pinned = case().defaults(wildcard).stored(user("groq/f"));
    assert_eq!(pinned.select().0.ignored, Some(IgnoredOverride::Disallowed));
}

#[test]
fn row_i_and_a9_one_off_models() {
    use OneOffPolicy::{Chain, ChainWhenConfigured, Strict};
    let own = || case().agent(json!({ "model": { "primary": "q/q", "fallbacks": ["a/b"] } }));
    // Strict whatever is stored.
    check(
        &case().run(one_off("groq/f", Strict)).stored(auto("o/o")),
        S::OneOff,
        Some(&[]),
        "groq+f",
    );
    // A member of the chain starts it there.
    check(
        &case().run(one_off("groq/f", ChainWhenConfigured)),
        S::OneOff,
        None,
        "groq+f; p+p",
    );
    check(
        &case().run(one_off("p/p", ChainWhenConfigured)),
        S::OneOff,
        None,
        "p+p; groq+f",
    );
    check(
        &own().run(one_off("a/b", ChainWhenConfigured)),
        S::OneOff,
        Some(&["a/b"]),
        "a+b",
    );
    check(
        &own().run(one_off("q/q", ChainWhenConfigured)),
        S::OneOff,
        Some(&["a/b"]),
        "q+q; a+b",
    );
    // Any other model is strict, unless the caller asks for the chain.
    check(
        &case().run(one_off("x/y", ChainWhenConfigured)),
        S::OneOff,
        Some(&[]),
        "x+y",
    );
    check(
        &own().run(one_off("groq/f", ChainWhenConfigured)),
        S::OneOff,
        Some(&[]),
        "groq+f",
    );
    check(
        &case().run(one_off("x/y", Chain)),
        S::OneOff,
        None,
        "x+y; groq+f; p+p",
    );
    check(
        &own().run(one_off("x/y", Chain)),
        S::OneOff,
        Some(&["a/b"]),
        "x+y; a+b",
    );
}

#[test]
fn row_j_channel_models() {
    check(&case().channel("c/c"), S::ChannelModel, None, "c+c; groq+f; p+p");
    check(
        &case().channel("c/c").agent(json!({ "model": "a/a" })),
        S::ChannelModel,
        None,
        "c+c; groq+f; p+p",
    );
    check(
        &case().channel("c/c").stored(user("o/o")),
        S::UserOverride,
        Some(&[]),
        "o+o",
    );
    check(&case().channel("c/"), S::ConfiguredDefault, None, "p+p; groq+f");
    // S-2.3: it is the session's primary, also while an automatic override is in place.
    assert_eq!(
        case().channel("c/c").stored(auto("o/o")).select().0.primary,
        model("c/c")
    );
    assert_eq!(
        case().agent(json!({ "model": "a/a" })).select().0.primary,
        model("a/a")
    );
}

#[test]
fn row_k_and_a5_an_inherited_override_keeps_its_source() {
    check(
        &case().stored(user("o/o")).inherited(),
        S::InheritedOverride,
        Some(&[]),
        "o+o",
    );
    check(
        &case().stored(legacy("o/o")).inherited(),
        S::InheritedOverride,
        Some(&[]),
        "o+o",
    );
    check(
        &case().stored(auto("o/o")).inherited(),
        S::InheritedOverride,
        Some(&["groq/f"]),
        "o+o; groq+f; p+p",
    );
    check(
        &case().stored(StoredOverride::LegacyAuto).inherited(),
        S::ConfiguredDefault,
        None,
        "p+p; groq+f",
    );
}

#[test]
fn what_holds_for_every_kind_of_run_under_every_agent_setting() {
    let runs = || {
        [
            RunKind::Turn,
            RunKind::Subagent,
            heartbeat(None),
            heartbeat(Some("h/h")),
            cron(None, None),
            cron(Some("q/m"), None),
            cron(None, Some(&["z/z"])),
            one_off("x/y", OneOffPolicy::Strict),
            one_off("groq/f", OneOffPolicy::ChainWhenConfigured),
            RunKind::MemoryFlush {
                model: "m/m".to_owned(),
            },
        ]
    };
    let settings = [
        json!({}),
        json!({ "model": "a/a" }),
        json!({ "model": { "fallbacks": ["a/b"] } }),
    ];
    for setting in settings {
        for run in runs() {
            let with = |stored: StoredOverride| case().agent(setting.clone()).run(run.clone()).stored(stored);
            let told = format!("{run:?} {setting}");
            // S-2.2d: an automatic override without an origin is as good as none.
            let (none, chain) = with(StoredOverride::None).select();
            let (ignored, same_chain) = with(StoredOverride::LegacyAuto).select();
            assert_eq!(
                (none.source, &none.requested, &none.fallbacks),
                (ignored.source, &ignored.requested, &ignored.fallbacks),
                "{told}"
            );
            assert_eq!(chain, same_chain, "{told}");
            for stored in [user("o/o"), legacy("o/o"), auto("o/o")] {
                let (own, chain) = with(stored.clone()).select();
                // A strict run has one candidate (S-2.1a), and a pin is strict unless the run names its own list.
                assert_eq!(
                    own.strict,
                    own.last.is_none() && own.fallbacks.as_ref().is_some_and(Vec::is_empty),
                    "{told}"
                );
                assert!(!own.strict || chain.len() == 1, "{told}");
                // A5: who holds the override decides neither the model nor, except for sub-agents (B6), the list.
                let (inherited, _) = with(stored).inherited().select();
                assert_eq!(own.requested, inherited.requested, "{told}");
                assert_eq!(own.strict, inherited.strict, "{told}");
                assert_eq!(own.primary, inherited.primary, "{told}");
            }
        }
    }
}
