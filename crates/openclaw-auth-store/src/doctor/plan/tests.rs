//! A dry run, a repair, and a second repair that finds nothing left to do.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::store::conformance::{at, key, openai, profile};
use crate::{Credential, UsageStore};
use openclaw_ids::AgentId;

/// Secrets that no output may show.
const PLANTED: [&str; 4] = ["sk-planted-old", "sk-planted-conf", "acc-planted", "ref-planted"];

struct Home {
    folder: TempDir,
    places: DoctorPaths,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = |id: &str| AgentFolder {
            agent: AgentId::new(id),
            dir: folder.path().join("agents").join(id).join("agent"),
        };
        let places = DoctorPaths {
            main: place("main"),
            default_agent: AgentId::main(),
            agents: vec![place("work"), place("main")],
        };
        for place in places.all() {
            fs::create_dir_all(&place.dir).unwrap();
        }
        Self { folder, places }
    }

    fn write(&self, agent: usize, name: &str, text: &str) {
        fs::write(self.places.all()[agent].dir.join(name), text).unwrap();
    }

    fn store(&self, agent: usize) -> SqliteAuthStore {
        let place = self.places.all()[agent].clone();
        SqliteAuthStore::open(
            &place.dir,
            &place.agent,
            Vec::new(),
            CooldownConfig::default(),
            at(0),
        )
        .unwrap()
    }

    fn examine(&self, config: &Value) -> DoctorPlan {
        DoctorPlan::examine(&self.places, config, at(0)).unwrap()
    }

    /// The plan's text, without the paths of this machine.
    fn words(&self, plan: &DoctorPlan) -> String {
        let lines = plan.findings().iter().map(|finding| {
            let mark = if finding.is_repaired() { "+" } else { "!" };
            format!("{mark} {finding}\n").replace(&self.folder.path().display().to_string(), "…")
        });
        lines.collect()
    }

    /// Every file with its bytes, without the two that SQLite keeps for readers.
    fn files(&self) -> Vec<(String, Vec<u8>)> {
        let mut files = Vec::new();
        collect(self.folder.path(), &mut files);
        files.retain(|(name, _)| !name.ends_with("-shm") && !name.ends_with("-wal"));
        files.sort();
        files
    }
}

fn collect(folder: &Path, files: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
}

fn login(end: i64) -> Value {
    json!({"type": "oauth", "provider": "openai", "access": "acc-planted", "refresh": "ref-planted",
        "expires": at(end).as_millisecond(), "email": "me@x.example"})
}

/// Everything that can be wrong at once.
async fn untidy() -> (Home, Value) {
    let home = Home::new();
    for (agent, end) in [(0, 7_200), (1, 3_600)] {
        let store = home.store(agent);
        let login = Credential::from_json(&login(end)).unwrap();
        store.upsert(profile("openai:me"), login, at(0)).await.unwrap();
        let ids = vec![profile("openai:gone"), profile("openai:me")];
        store.set_order(openai(), ids, at(0)).await.unwrap();
    }
    let codex = json!({
        "profiles": {
            "openai-codex:old": {"type": "api_key", "provider": "openai-codex", "key": "sk-planted-old"},
            "cloud": {"type": "aws-sdk", "provider": "amazon-bedrock"},
            "openai-codex:away": {"type": "oauth", "provider": "openai-codex",
                "oauthRef": {"source": "openclaw-credentials", "provider": "openai-codex", "id": "0123"}},
        },
        "usageStats": {"openai-codex:away": {"lastUsed": 1}},
    });
    home.write(1, "auth-profiles.json", &codex.to_string());
    home.write(
        1,
        "auth-state.json",
        &json!({"lastGood": {"openai-codex": "openai-codex:old"}}).to_string(),
    );
    home.write(1, "auth.json", "not JSON");
    let config = json!({"auth": {"profiles": {
        "a:main": {"provider": "a", "mode": "api_key", "key": "sk-planted-conf"},
        "openai-codex:old": {"provider": "openai-codex", "mode": "api_key"},
    }}});
    (home, config)
}

#[tokio::test]
async fn section_9_3_a_dry_run_says_everything_and_changes_nothing() {
    let (home, config) = untidy().await;
    let before = home.files();
    let plan = home.examine(&config);
    assert!(plan.repairs_anything());
    let words = home.words(&plan);
    insta::assert_snapshot!("dry_run", words);
    assert_eq!(home.files(), before);
    let shown = format!("{words}{plan:?}");
    assert!(PLANTED.iter().all(|secret| !shown.contains(secret)), "{shown}");
}

#[tokio::test]
async fn section_9_3_the_repair_does_it_and_a_second_one_finds_what_only_people_can_do() {
    let (home, config) = untidy().await;
    let plan = home.examine(&config);
    let outcome = plan.carry_out(&CooldownConfig::default(), at(1)).await.unwrap();
    for backup in &outcome.backups {
        let mode = fs::metadata(backup).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", backup.display());
    }
    let config = plan.repaired_config().unwrap().clone();
    assert!(!config.to_string().contains("planted"), "{config}");
    assert_eq!(config["auth"]["profiles"]["cloud"]["mode"], "aws-sdk");

    let main = home.store(0).snapshot();
    assert!(main.credential(&profile("a:main")).is_some(), "G25");
    let work = home.store(1).snapshot();
    assert!(work.credential(&profile("openai:old")).is_some(), "9.6");
    assert!(work.credential(&profile("openai:me")).is_none(), "9.8");
    assert_eq!(work.last_good.get(&openai()), Some(&profile("openai:old")));

    let again = home.examine(&config);
    assert_eq!(again.repaired_config(), None);
    insta::assert_snapshot!("after", home.words(&again));
    let before = home.files();
    again.carry_out(&CooldownConfig::default(), at(2)).await.unwrap();
    let names = |files: &[(String, Vec<u8>)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&home.files()), names(&before), "G33");
}

/// L14: a folder that a variable names is examined like an agent's; L15: two folders are the same when their paths are.
#[tokio::test]
async fn l14_l15_a_folder_that_is_named_twice_is_examined_once_and_a_link_to_it_is_another() {
    let mut home = Home::new();
    let key = json!({"a": {"type": "api_key", "key": "sk-planted-old"}});
    home.write(1, "auth.json", &key.to_string());
    let work = home.places.agents[0].clone();
    let named = home.folder.path().join("named");
    std::os::unix::fs::symlink(&work.dir, &named).unwrap();
    let agent = AgentId::new("custom");
    let link = AgentFolder { agent, dir: named };
    home.places.agents = vec![work.clone(), work.clone(), link];
    let found = home.examine(&json!({}));
    let agents: Vec<_> = found
        .findings()
        .iter()
        .map(|finding| match finding {
            DoctorFinding::OlderFiles { agent, .. } => agent.as_str(),
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(agents, ["work", "custom"]);
}

#[tokio::test]
async fn g25_a_stored_entry_without_a_secret_gives_way_to_the_configured_one() {
    let stored = [
        ("blank", json!({"type": "api_key", "provider": "a"})),
        (
            "kept",
            json!({"type": "api_key", "provider": "a", "key": "sk-stored"}),
        ),
        (
            "pointer",
            json!({"type": "api_key", "provider": "a", "keyRef": {"source": "env", "provider": "default", "id": "A"}}),
        ),
    ];
    let home = Home::new();
    let store = home.store(0);
    for (id, entry) in &stored {
        let credential = Credential::from_json(entry).unwrap();
        store.upsert(profile(id), credential, at(0)).await.unwrap();
    }
    let entry = |key: &str| json!({"provider": "a", "mode": "api_key", "key": key});
    let config = json!({"auth": {"profiles": {
        "blank": entry("sk-conf"), "kept": entry("sk-conf"), "pointer": entry("sk-conf"), "new": entry("sk-conf"),
        "hollow": {"provider": "a", "mode": "token", "token": " "},
    }}});
    home.examine(&config)
        .carry_out(&CooldownConfig::default(), at(1))
        .await
        .unwrap();
    store.refresh().unwrap();
    let after = store.snapshot();
    let configured = Some(key("sk-conf")).map(|key| key.fingerprint());
    let print = |id: &str| after.credential(&profile(id)).map(Credential::fingerprint);
    assert_eq!(print("blank"), configured);
    assert_eq!(print("new"), configured);
    assert_eq!(print("kept"), Some(key("sk-stored").fingerprint()));
    assert_eq!(print("pointer"), Some(None));
}

#[tokio::test]
async fn d23_a_store_that_cannot_be_read_is_a_finding_and_the_others_are_repaired() {
    let home = Home::new();
    home.write(
        0,
        "openclaw-agent.sqlite",
        "something else entirely, and long enough",
    );
    home.write(
        1,
        "auth.json",
        &json!({"a": {"type": "api_key", "key": "sk-planted-old"}}).to_string(),
    );
    let plan = home.examine(&json!({}));
    insta::assert_snapshot!("unusable", home.words(&plan));
    plan.carry_out(&CooldownConfig::default(), at(1)).await.unwrap();
    assert_eq!(home.store(1).snapshot().profiles.len(), 1);
}

#[tokio::test]
async fn g25_a_secret_stays_in_the_configuration_while_no_store_can_take_it() {
    let config = json!({"auth": {"profiles": {"openai:conf": {"provider": "openai", "mode": "api_key", "key": "sk-planted-conf"}}}});
    let home = Home::new();
    home.write(
        0,
        "openclaw-agent.sqlite",
        "something else entirely, and long enough",
    );
    let plan = home.examine(&config);
    assert_eq!(plan.repaired_config(), None, "{}", home.words(&plan));
    assert!(!plan.repairs_anything());
}

#[tokio::test]
async fn a_file_where_a_folder_belongs_is_a_finding_and_the_others_are_repaired() {
    let home = Home::new();
    let agents = home.folder.path().join("agents");
    fs::remove_dir_all(agents.join("main")).unwrap();
    fs::write(agents.join("main"), "notes").unwrap();
    home.write(
        1,
        "auth.json",
        &json!({"a": {"type": "api_key", "key": "sk-planted-old"}}).to_string(),
    );
    let plan = home.examine(&json!({}));
    insta::assert_snapshot!("file_in_the_way", home.words(&plan));
    plan.carry_out(&CooldownConfig::default(), at(1)).await.unwrap();
    assert_eq!(home.store(1).snapshot().profiles.len(), 1);
    assert_eq!(fs::read_to_string(agents.join("main")).unwrap(), "notes");
}
