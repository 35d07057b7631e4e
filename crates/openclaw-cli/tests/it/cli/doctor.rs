//! `doctor`, on what older versions left.

use super::Desk;

const PROFILES: &str = r#"{"version": 1, "profiles": {
  "openai-codex:work": {"type": "oauth", "provider": "openai-codex", "access": "a-secret", "refresh": "r-secret", "expires": 1},
  "groq:default": {"type": "api_key", "provider": "groq", "key": "gsk-secret"},
  "bedrock:default": {"type": "aws-sdk", "provider": "amazon-bedrock"}},
  "order": {"openai-codex": ["openai-codex:work"]}}"#;

const CONFIG: &str = r#"{
  "agents": {"defaults": {"model": "openai/gpt"}, "list": [{"id": "main"}, {"id": "ops"}]},
  "channels": {"telegram": {"enabled": true}},
  "auth": {"profiles": {"mistral:default": {"provider": "mistral", "mode": "api_key", "key": "mk-secret"}}}
}"#;

fn legacy(config: &str) -> Desk {
    let desk = Desk::with(config);
    desk.write("agents/main/agent/auth-profiles.json", PROFILES);
    desk.write(
        "agents/ops/agent/auth.json",
        r#"{"xai": {"type": "api_key", "key": "xk-secret"}}"#,
    );
    desk.write("agents/old/agent/auth-profiles.json", "not json");
    desk
}

#[test]
fn section_9_3_a_legacy_tree_is_examined_without_touching_it_and_then_repaired() {
    let desk = legacy(CONFIG);
    let before = desk.contents();
    let told = desk.transcript(&[&["doctor"], &["doctor", "--dry-run"]]);
    assert!(desk.contents() == before, "a look changes nothing");
    let fixed = desk.run(&["doctor", "--fix"]);
    let told = told + &fixed.shown(&["doctor", "--fix"]);
    let told = told
        + &desk.transcript(&[
            &["doctor"],
            &["auth", "list"],
            &["auth", "list", "--agent", "ops"],
        ]);
    assert!(!told.contains("-secret"), "{told}");
    insta::assert_snapshot!("doctor", told);
    let config = std::fs::read_to_string(desk.path("openclaw.json")).unwrap();
    assert!(
        !config.contains("mk-secret") && config.contains("telegram"),
        "{config}"
    );
}

#[test]
fn a_configuration_with_comments_keeps_them() {
    let config = CONFIG.replacen('{', "{ // mine", 1);
    let desk = legacy(&config);
    let done = desk.run(&["doctor", "--fix"]);
    assert_eq!(done.status, 1, "{done:?}");
    assert!(
        done.output.contains("put /state/openclaw.json.repaired."),
        "{}",
        done.output
    );
    assert_eq!(
        std::fs::read_to_string(desk.path("openclaw.json")).unwrap(),
        config
    );
}

#[test]
fn damage_is_left_for_people() {
    let desk = Desk::new();
    let damage = "this is no database ".repeat(100);
    desk.write("agents/main/agent/openclaw-agent.sqlite", &damage);
    desk.write("agents/ops/sessions/openclaw-sessions.sqlite", &damage);
    desk.write("openclaw-failover-history.sqlite", &damage);
    let told = desk.transcript(&[&["doctor"], &["doctor", "--fix"], &["status"], &["explain"]]);
    insta::assert_snapshot!("damage", told);
    let left = std::fs::read_to_string(desk.path("agents/main/agent/openclaw-agent.sqlite")).unwrap();
    assert_eq!(left, damage);
}

#[test]
fn a_sessions_json_that_makes_no_sense_is_told_and_set_aside() {
    for broken in ["{\"agent:main:one\": ", "[]", "7"] {
        let desk = Desk::new();
        desk.write("agents/main/sessions/sessions.json", broken);
        let looked = desk.run(&["doctor"]);
        assert_eq!(looked.status, 1, "{looked:?}");
        assert!(looked.output.contains("sessions.json aside"), "{looked:?}");
        let status = desk.run(&["status"]);
        assert_eq!(status.status, 0, "{status:?}");
        assert!(status.output.contains("doctor --fix"), "{status:?}");
        let fixed = desk.run(&["doctor", "--fix"]);
        assert_eq!(fixed.status, 0, "{fixed:?}");
        assert!(!desk.path("agents/main/sessions/sessions.json").exists());
        let kept = desk
            .contents()
            .into_iter()
            .find(|(path, _)| path.to_string_lossy().contains(".doctor."));
        assert_eq!(kept.unwrap().1, broken.as_bytes());
        desk.fine(&["doctor"]);
        desk.fine(&["status"]);
    }
}

#[test]
fn without_a_configuration_a_broken_sessions_json_is_told_too() {
    let desk = Desk::bare().with_variable("OPENAI_API_KEY", "sk-0123456789");
    desk.write("agents/main/sessions/sessions.json", "{");
    let looked = desk.run(&["doctor"]);
    assert_eq!(looked.status, 1, "{looked:?}");
}

#[test]
fn a_file_where_a_folder_belongs_is_told_and_keeps_nobody_from_looking_at_the_rest() {
    for (file, told) in [
        ("agents/ops/agent", "move /state/agents/ops/agent away"),
        ("agents/main", "move /state/agents/main away"),
        ("agents", "move /state/agents away"),
    ] {
        let desk = Desk::new();
        desk.write(file, "notes");
        desk.write("openclaw-failover-history.sqlite", &"no database".repeat(200));
        let told_by_path = told.replace("/state/", "`/state/").replace(" away", "` away");
        for arguments in [&["doctor"] as &[&str], &["doctor", "--fix"]] {
            let done = desk.run(arguments);
            assert_eq!(done.status, 1, "{file}: {done:?}");
            assert!(done.output.contains(&told_by_path), "{file}: {}", done.output);
            assert!(
                done.output.contains("history.sqlite is damaged"),
                "{}",
                done.output
            );
        }
        assert_eq!(std::fs::read_to_string(desk.path(file)).unwrap(), "notes");
    }
}

#[test]
fn an_empty_session_file_hides_no_broken_sessions_json() {
    let desk = Desk::new();
    desk.write("agents/main/sessions/openclaw-sessions.sqlite", "");
    desk.write("agents/main/sessions/sessions.json", "{");
    let looked = desk.run(&["doctor"]);
    assert_eq!(looked.status, 1, "{looked:?}");
    assert!(looked.output.contains("sessions.json aside"), "{looked:?}");
}

#[test]
fn an_orderly_place_has_no_findings() {
    let desk = Desk::new().with_keys();
    insta::assert_snapshot!("orderly", desk.transcript(&[&["doctor"], &["doctor", "--fix"]]));
}
