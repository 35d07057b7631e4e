//! Where things are, by variable.

use super::*;

fn at(variables: &[(&str, &str)]) -> Environment {
    Environment::of(variables.iter().copied(), Path::new("/work dir"))
}

#[test]
fn l1_and_l2_home() {
    for (variables, home) in [
        (&[] as &[(&str, &str)], "/work dir"),
        (&[("HOME", "/home/a")], "/home/a"),
        (&[("USERPROFILE", "/users/a")], "/users/a"),
        (&[("HOME", " "), ("USERPROFILE", "/users/a")], "/users/a"),
        (&[("HOME", "/home/a"), ("OPENCLAW_HOME", "/claw")], "/claw"),
        (
            &[("HOME", "/home/a"), ("OPENCLAW_HOME", " undefined ")],
            "/home/a",
        ),
        (&[("HOME", "/home/a"), ("OPENCLAW_HOME", "null")], "/home/a"),
        (&[("HOME", "/home/a"), ("OPENCLAW_HOME", "~")], "/home/a"),
        (&[("HOME", "/home/a"), ("OPENCLAW_HOME", "~/b")], "/home/a/b"),
        (&[("HOME", "/home/a"), ("OPENCLAW_HOME", "b")], "/work dir/b"),
        (&[("HOME", "/home/a"), ("OPENCLAW_HOME", "~b")], "/work dir/~b"),
    ] {
        assert_eq!(at(variables).home(), Path::new(home), "{variables:?}");
    }
}

#[test]
fn l3_and_l5_state() {
    for (variables, state) in [
        (&[("HOME", "/home/a")] as &[(&str, &str)], "/home/a/.openclaw"),
        (&[("HOME", "/home/a"), ("OPENCLAW_STATE_DIR", " /s ")], "/s"),
        (&[("HOME", "/home/a"), ("OPENCLAW_STATE_DIR", "~/s")], "/home/a/s"),
        (
            &[("OPENCLAW_HOME", "/claw"), ("OPENCLAW_STATE_DIR", "~/s")],
            "/claw/s",
        ),
        (&[("HOME", "/home/a"), ("OPENCLAW_STATE_DIR", "s")], "/work dir/s"),
        (
            &[("HOME", "/home/a"), ("OPENCLAW_STATE_DIR", "  ")],
            "/home/a/.openclaw",
        ),
    ] {
        assert_eq!(at(variables).state_dir(), Path::new(state), "{variables:?}");
    }
}

#[test]
fn l4_the_older_directory_is_used_when_only_it_exists() {
    let home = tempfile::tempdir().unwrap();
    let environment = at(&[("HOME", home.path().to_str().unwrap())]);
    let (current, older) = (home.path().join(".openclaw"), home.path().join(".clawdbot"));
    assert_eq!(environment.state_dir(), current);
    std::fs::create_dir(&older).unwrap();
    assert_eq!(environment.state_dir(), older);
    std::fs::create_dir(&current).unwrap();
    assert_eq!(environment.state_dir(), current);
}

#[test]
fn configuration_files_are_beside_each_other_unless_named() {
    let state = Path::new("/s");
    let plain = at(&[]);
    assert_eq!(plain.config_path(state), Path::new("/s/openclaw.json"));
    assert_eq!(
        plain.failover_config_path(Path::new("/c/my.json")),
        Path::new("/c/failover.json5")
    );
    let named = at(&[
        ("OPENCLAW_CONFIG_PATH", "c.json"),
        ("OPENCLAW_FAILOVER_CONFIG", "/f.json5"),
    ]);
    assert_eq!(named.config_path(state), Path::new("/work dir/c.json"));
    assert_eq!(
        named.failover_config_path(Path::new("/c/my.json")),
        Path::new("/f.json5")
    );
}

#[test]
fn values_are_not_shown() {
    let shown = format!("{:?}", at(&[("OPENAI_API_KEY", "sk-secret")]));
    assert_eq!(shown, "{\"OPENAI_API_KEY\"}");
}
