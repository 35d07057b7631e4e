//! Runs that no person started: scheduled jobs, heartbeats, sub-agents and memory flushes (rows G, H, L and M).

use serde_json::{Value, json};

use super::*;

#[test]
fn rows_g1_to_g3_scheduled_jobs() {
    let strict_agent = || case().agent(json!({ "model": "a/a" }));
    // The examples of chain.md 9.1 (B8, B9), with A4 for the string model.
    check(&case().run(cron(None, None)), S::Cron, None, "p+p; groq+f");
    check(
        &case().run(cron(Some("q/m"), None)),
        S::CronModel,
        Some(&["groq/f"]),
        "q+m; groq+f",
    );
    check(
        &case().run(cron(Some("q/m"), Some(&[]))),
        S::CronFallbacks,
        Some(&[]),
        "q+m",
    );
    check(
        &case().run(cron(Some("q/m"), Some(&["z/z"]))),
        S::CronFallbacks,
        Some(&["z/z"]),
        "q+m; z+z",
    );
    check(
        &strict_agent().run(cron(Some("q/m"), None)),
        S::CronModel,
        Some(&["groq/f"]),
        "q+m; groq+f",
    );
    // A4: an agent's own fallbacks win, also empty ones.
    for (fallbacks, chain) in [(&["a/b"][..], "q+m; a+b"), (&[], "q+m")] {
        let agent = json!({ "model": { "fallbacks": fallbacks } });
        check(
            &case().agent(agent).run(cron(Some("q/m"), None)),
            S::CronModel,
            Some(fallbacks),
            chain,
        );
    }
    // G1 without a model: the resolved selection.
    check(
        &case().run(cron(None, Some(&["z/z"]))),
        S::CronFallbacks,
        Some(&["z/z"]),
        "p+p; z+z",
    );
    let overridden = case().stored(user("o/o")).run(cron(None, Some(&["z/z"])));
    check(&overridden, S::CronFallbacks, Some(&["z/z"]), "o+o; z+z");
    // G3 and S-2.4 item 4: the override is asked for, and is not strict.
    for stored in [user("o/o"), legacy("o/o"), auto("o/o")] {
        check(
            &case().stored(stored).run(cron(None, None)),
            S::Cron,
            None,
            "o+o; groq+f; p+p",
        );
    }
    check(&strict_agent().run(cron(None, None)), S::Cron, Some(&[]), "a+a");
    // B10, S-2.4 item 3: an agent that only repeats the default primary.
    let repeats = |model: Value| case().agent(json!({ "model": model }));
    check(
        &repeats(json!("p/p")).run(cron(None, None)),
        S::Cron,
        Some(&["groq/f"]),
        "p+p; groq+f",
    );
    check(
        &repeats(json!({ "primary": "p/p" })).run(cron(None, None)),
        S::Cron,
        Some(&[]),
        "p+p",
    );
    check(
        &repeats(json!("p/p")).stored(user("o/o")).run(cron(None, None)),
        S::Cron,
        Some(&[]),
        "o+o",
    );
    let without_list = repeats(json!("p/p")).defaults(json!({ "model": "p/p" }));
    check(&without_list.run(cron(None, None)), S::Cron, Some(&[]), "p+p");
    // A payload model that cannot be read is as good as none.
    check(&case().run(cron(Some("x/"), None)), S::Cron, None, "p+p; groq+f");
}

#[test]
fn g3_hooks_and_sub_agent_jobs() {
    let job = |hook: Option<&str>, basis: CronBasis| {
        RunKind::Cron(CronPayload {
            hook_model: hook.map(str::to_owned),
            basis,
            ..CronPayload::default()
        })
    };
    let hooked = case().stored(user("o/o")).run(job(Some("h/h"), CronBasis::Agent));
    check(&hooked, S::Cron, None, "h+h; groq+f; p+p");
    // S-2.4 item 2
    let subagents = json!({ "model": { "primary": "p/p", "fallbacks": ["groq/f"] },
        "subagents": { "model": { "primary": "s/s", "fallbacks": ["s/t"] } } });
    let sub = || {
        case()
            .defaults(subagents.clone())
            .run(job(None, CronBasis::Subagent))
    };
    check(&sub(), S::Cron, Some(&["s/t"]), "s+s; s+t");
    check(&sub().stored(user("o/o")), S::Cron, None, "o+o; groq+f; p+p");
    check(
        &case().run(job(None, CronBasis::Subagent)),
        S::Cron,
        None,
        "p+p; groq+f",
    );
}

/// S-2.5 too: the list is the stored entry's, the model the heartbeat's.
#[test]
fn rows_h1_and_h2_heartbeats() {
    let configured =
        json!({ "model": { "primary": "p/p", "fallbacks": ["groq/f"] }, "heartbeat": { "model": "h/h" } });
    let beat = || case().defaults(configured.clone()).run(heartbeat(None));
    // The heartbeat's model; the list of what is stored.
    check(&beat(), S::HeartbeatModel, None, "h+h; groq+f; p+p");
    check(
        &case().run(heartbeat(Some("e/e"))),
        S::HeartbeatModel,
        None,
        "e+e; groq+f; p+p",
    );
    check(
        &beat().run(heartbeat(Some("e/e"))),
        S::HeartbeatModel,
        None,
        "e+e; groq+f; p+p",
    );
    check(
        &beat().run(heartbeat(Some(" "))),
        S::HeartbeatModel,
        None,
        "h+h; groq+f; p+p",
    );
    check(&beat().stored(user("o/o")), S::HeartbeatModel, Some(&[]), "h+h");
    check(
        &beat().stored(auto("o/o")),
        S::HeartbeatModel,
        Some(&["groq/f"]),
        "h+h; groq+f; p+p",
    );
    check(
        &beat().agent(json!({ "model": "a/a" })),
        S::HeartbeatModel,
        Some(&[]),
        "h+h",
    );
    // H2: as a turn.
    check(
        &case().run(heartbeat(None)),
        S::ConfiguredDefault,
        None,
        "p+p; groq+f",
    );
    check(
        &case().run(heartbeat(Some("x/"))),
        S::ConfiguredDefault,
        None,
        "p+p; groq+f",
    );
    check(
        &case().run(heartbeat(None)).stored(user("o/o")),
        S::UserOverride,
        Some(&[]),
        "o+o",
    );
}

#[test]
fn row_l_b6_and_b7_sub_agents() {
    let with = |defaults: Value, agent: Value| {
        let mut settings = json!({ "model": { "primary": "p/p", "fallbacks": ["groq/f"] } });
        if !defaults.is_null() {
            settings["subagents"] = json!({ "model": defaults });
        }
        case().defaults(settings).agent(agent).run(RunKind::Subagent)
    };
    let none = json!(null);
    // B7: the first setting with a primary, and its own list.
    check(
        &with(none.clone(), json!({})),
        S::ConfiguredDefault,
        None,
        "p+p; groq+f",
    );
    check(&with(json!("s/s"), json!({})), S::Subagent, Some(&[]), "s+s");
    let listed = json!({ "primary": "s/s", "fallbacks": ["s/t"] });
    check(
        &with(listed.clone(), json!({})),
        S::Subagent,
        Some(&["s/t"]),
        "s+s; s+t",
    );
    check(
        &with(listed.clone(), json!({ "model": "a/a" })),
        S::Subagent,
        Some(&[]),
        "a+a",
    );
    let own = json!({ "model": "a/a", "subagents": { "model": { "primary": "b/b", "fallbacks": ["b/c"] } } });
    check(
        &with(listed.clone(), own),
        S::Subagent,
        Some(&["b/c"]),
        "b+b; b+c",
    );
    check(
        &with(json!({ "fallbacks": ["s/t"] }), json!({})),
        S::ConfiguredDefault,
        None,
        "p+p; groq+f",
    );
    // B6: an automatic override; the first setting that imposes a list.
    let over = |case: Case| case.stored(auto("o/o"));
    check(
        &over(with(none.clone(), json!({}))),
        S::Subagent,
        Some(&["groq/f"]),
        "o+o; groq+f; p+p",
    );
    check(
        &over(with(listed.clone(), json!({ "model": "a/a" }))),
        S::Subagent,
        Some(&["s/t"]),
        "o+o; s+t; a+a",
    );
    check(
        &over(with(none.clone(), json!({ "model": "a/a" }))),
        S::Subagent,
        Some(&[]),
        "o+o; a+a",
    );
    let agent_list = json!({ "subagents": { "model": { "fallbacks": ["b/c"] } } });
    check(
        &over(with(listed, agent_list)),
        S::Subagent,
        Some(&["b/c"]),
        "o+o; b+c; s+s",
    );
    // B4: spawned with an explicit model.
    check(
        &with(none, json!({})).stored(user("o/o")),
        S::UserOverride,
        Some(&[]),
        "o+o",
    );
}

#[test]
fn b7_an_agent_s_model_means_the_same_for_its_sub_agents() {
    // A bare name that one provider is listed with, and a text that is no reference.
    for (text, chain) in [("m1", "custom+m1"), ("x/", "openai+gpt-5.5")] {
        let ops = || {
            case()
                .defaults(json!({ "model": "p/p", "models": { "custom/m1": {}, "p/*": {} } }))
                .agent(json!({ "model": text }))
        };
        check(&ops(), S::AgentPrimary, Some(&[]), chain);
        check(&ops().run(RunKind::Subagent), S::Subagent, Some(&[]), chain);
    }
}

#[test]
fn row_m_a_memory_flush_is_exact() {
    let flush = |text: &str| {
        case().run(RunKind::MemoryFlush {
            model: text.to_owned(),
        })
    };
    check(&flush("m/m"), S::MemoryFlush, Some(&[]), "m+m");
    check(&flush(" "), S::ConfiguredDefault, None, "p+p; groq+f");
}
