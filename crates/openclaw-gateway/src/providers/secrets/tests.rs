//! Files and commands of a real machine: what they give, and what is refused.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::TempDir;

use super::*;

struct Place {
    folder: TempDir,
    sources: SecretSources,
}

fn place(providers: &str) -> Place {
    let folder = tempfile::tempdir().unwrap();
    let config: SecretsConfig = json5::from_str(&format!("{{ providers: {providers} }}")).unwrap();
    let environment = Environment::of([("PASSED", "p"), ("KEPT_BACK", "k")], folder.path());
    let sources = SecretSources::new(&config, &environment);
    Place { folder, sources }
}

impl Place {
    fn write(&self, name: &str, text: &str, mode: u32) {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    fn follow(&self, source: SecretSource, alias: &str, id: &str) -> Result<String, String> {
        let pointer = SecretRef {
            source,
            provider: alias.to_owned(),
            id: id.to_owned(),
        };
        let found = self.sources.follow(&pointer);
        let folder = self.folder.path().to_str().unwrap();
        found.map_err(|error| openclaw_classify::error_chain::line(&error).replace(folder, "/folder"))
    }
}

#[test]
fn files_are_read_within_their_limits() {
    let place = place(
        "{ vault: { source: 'file', path: 'vault.json' }, whole: { source: 'file', path: 'whole' },
           open: { source: 'file', path: 'open' }, shared: { source: 'file', path: 'open', allowInsecurePath: true },
           small: { source: 'file', path: 'whole', maxBytes: 3 }, gone: { source: 'file', path: 'gone' },
           folder: { source: 'file', path: '.', allowInsecurePath: true } }",
    );
    place.write("vault.json", r#"{"openai": {"key": " sk-1\n"}}"#, 0o600);
    place.write("whole", "sk-2\n", 0o400);
    place.write("open", "sk-3", 0o644);
    let file = |alias: &str, id: &str| place.follow(SecretSource::File, alias, id);
    assert_eq!(file("vault", "/openai/key").as_deref(), Ok("sk-1"));
    assert_eq!(file("whole", "value").as_deref(), Ok("sk-2"));
    assert_eq!(file("shared", "value").as_deref(), Ok("sk-3"));
    let told: Vec<String> = ["vault", "open", "small", "gone", "folder", "other"]
        .iter()
        .map(|alias| format!("{alias}: {}", file(alias, "/none").unwrap_err()))
        .collect();
    insta::assert_snapshot!("files", told.join("\n"));
}

const SCRIPT: &str = "#!/bin/sh\nread request\n";

#[test]
fn commands_are_run_within_their_limits() {
    let folder = tempfile::tempdir().unwrap();
    let command = |name: &str, more: &str| {
        let path = folder.path().join(name);
        format!(
            "{name}: {{ source: 'exec', command: '{}', {more} }}",
            path.display()
        )
    };
    let providers = [
        command("json", "args: ['sk-json']"),
        command("plain", "jsonOnly: false"),
        command("strict", ""),
        command(
            "variables",
            "jsonOnly: false, passEnv: ['PASSED', 'NOT_SET'], env: { OWN: 'o' }",
        ),
        command("silent", "timeoutMs: 100, jsonOnly: false"),
        command(
            "stuck",
            "timeoutMs: 60000, noOutputTimeoutMs: 100, jsonOnly: false",
        ),
        command("loud", "maxOutputBytes: 10, jsonOnly: false"),
        command("failing", "jsonOnly: false"),
        command("refusing", ""),
        command("link", "jsonOnly: false"),
        command("followed", "jsonOnly: false, allowSymlinkCommand: true"),
        command("open", "jsonOnly: false"),
        command("elsewhere", "jsonOnly: false, trustedDirs: ['/usr/bin']"),
        "relative: { source: 'exec', command: 'plain' }".to_owned(),
    ];
    let place = place(&format!("{{ {} }}", providers.join(", ")));
    let write = |name: &str, text: &str, mode: u32| {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("{SCRIPT}{text}")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    write(
        "json",
        r#"echo "{\"values\":{\"a/b\":\"$1 for $request\"}}" | sed 's/ for {.*}"}}/"}}/'"#,
        0o700,
    );
    write("plain", "echo sk-plain", 0o700);
    write("strict", "echo sk-secret", 0o700);
    write("variables", "echo \"$PASSED $OWN [$KEPT_BACK]\"", 0o700);
    write("silent", "sleep 30", 0o700);
    write("stuck", "sleep 30", 0o700);
    write("loud", "echo sk-secret-sk-secret", 0o700);
    write("failing", "echo sk-secret; exit 3", 0o700);
    write(
        "refusing",
        r#"echo '{"values":{},"errors":{"a/b":{"message":"sk-secret"}}}'"#,
        0o700,
    );
    write("open", "echo sk-open", 0o777);
    write("elsewhere", "echo sk-elsewhere", 0o700);
    std::os::unix::fs::symlink(folder.path().join("plain"), folder.path().join("link")).unwrap();
    std::os::unix::fs::symlink(folder.path().join("plain"), folder.path().join("followed")).unwrap();

    let exec = |alias: &str| {
        let found = place.follow(SecretSource::Exec, alias, "a/b");
        found.map_err(|error| error.replace(folder.path().to_str().unwrap(), "/folder"))
    };
    assert_eq!(exec("json").as_deref(), Ok("sk-json"));
    assert_eq!(exec("plain").as_deref(), Ok("sk-plain"));
    assert_eq!(exec("followed").as_deref(), Ok("sk-plain"));
    assert_eq!(exec("variables").as_deref(), Ok("p o []"));
    let told: Vec<String> = [
        "strict",
        "silent",
        "stuck",
        "loud",
        "failing",
        "refusing",
        "link",
        "open",
        "elsewhere",
        "relative",
        "other",
    ]
    .iter()
    .map(|alias| format!("{alias}: {}", exec(alias).unwrap_err()))
    .collect();
    let told = told.join("\n");
    assert!(!told.contains("sk-"), "{told}");
    insta::assert_snapshot!("commands", told);
}

#[test]
fn what_a_command_printed_is_remembered_until_it_is_refused() {
    let place = place("{}");
    let path = place.folder.path().join("count");
    let script = format!("{SCRIPT}echo x >> {0}.log\nwc -l < {0}.log", path.display());
    place.write("count", &script, 0o700);
    let text = format!(
        "{{ providers: {{ count: {{ source: 'exec', command: '{}', jsonOnly: false }} }} }}",
        path.display()
    );
    let config: SecretsConfig = json5::from_str(&text).unwrap();
    let sources = SecretSources::new(&config, &Environment::of([], Path::new("/")));
    let pointer = SecretRef {
        source: SecretSource::Exec,
        ..SecretRef::env("a")
    };
    let pointer = SecretRef {
        provider: "count".to_owned(),
        ..pointer
    };
    assert!(!sources.is_quick(&pointer));
    assert_eq!(sources.follow(&pointer).unwrap(), "1");
    assert!(sources.is_quick(&pointer));
    assert_eq!(sources.clone().follow(&pointer).unwrap(), "1");
    sources.forget(&pointer);
    assert_eq!(sources.follow(&pointer).unwrap(), "2");
    let at_rest = SecretSources::without_commands(&config, &Environment::of([], Path::new("/")));
    assert!(at_rest.is_configured(&pointer) && at_rest.follow(&pointer).is_err());
}

/// A place whose command `asked` notes each run in `asked.log`, and does this then.
fn noting(then: &str) -> Place {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("asked");
    let text = format!(
        "{{ providers: {{ asked: {{ source: 'exec', command: '{}', jsonOnly: false }} }} }}",
        path.display()
    );
    let config: SecretsConfig = json5::from_str(&text).unwrap();
    let sources = SecretSources::new(&config, &Environment::of([], Path::new("/")));
    let place = Place { folder, sources };
    place.write("asked", &format!("{SCRIPT}echo x >> \"$0.log\"\n{then}\n"), 0o700);
    place
}

impl Place {
    fn runs(&self) -> usize {
        let log = std::fs::read_to_string(self.folder.path().join("asked.log")).unwrap();
        log.lines().count()
    }
}

#[test]
fn a_command_runs_once_for_all_who_ask_at_the_same_time() {
    // Opening a pipe waits until another process opens its other end.
    let place = noting("read key < \"$0.pipe\"\necho \"$key\"");
    let pipe = place.folder.path().join("asked.pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let all_ask = std::sync::Barrier::new(5);
    std::thread::scope(|scope| {
        let ask = || {
            all_ask.wait();
            place.follow(SecretSource::Exec, "asked", "a")
        };
        let asking: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        all_ask.wait();
        std::fs::write(&pipe, "sk-1\n").unwrap();
        for asked in asking {
            assert_eq!(asked.join().unwrap().as_deref(), Ok("sk-1"));
        }
    });
    assert_eq!(place.runs(), 1);
}

#[test]
fn a_command_that_fails_fails_for_all_who_waited_for_it_and_is_run_again_for_the_next() {
    let place = noting("exit 3");
    let sources = &place.sources.0;
    let Some(SecretProvider::Exec(config)) = sources.provider(SecretSource::Exec, "asked") else {
        panic!("it is configured");
    };
    let asked = Instant::now();
    for (since, runs) in [(Some(asked), 1), (Some(asked), 1), (None, 2)] {
        let since = since.unwrap_or_else(Instant::now);
        let error = sources.run_once(config, "asked", "a", since).unwrap_err();
        assert_eq!(error.to_string(), "exit code 3");
        assert_eq!(place.runs(), runs);
    }
}

#[test]
fn a_pointer_that_names_no_place_means_the_default_one_of_its_kind() {
    let folder = tempfile::tempdir().unwrap();
    let text = "{ defaults: { file: 'main' }, providers: { main: { source: 'file', path: 'f' }, odd: { source: 'keychain' } } }";
    let config: SecretsConfig = json5::from_str(text).unwrap();
    let sources = SecretSources::new(&config, &Environment::of([], folder.path()));
    let at = |source, alias: &str| SecretRef {
        source,
        provider: alias.to_owned(),
        id: "value".to_owned(),
    };
    assert!(sources.is_configured(&at(SecretSource::File, "default")));
    assert!(sources.is_configured(&at(SecretSource::Env, "default")));
    for (source, alias) in [
        (SecretSource::Exec, "default"),
        (SecretSource::Exec, "main"),
        (SecretSource::File, "odd"),
        (SecretSource::File, "other"),
    ] {
        assert!(!sources.is_configured(&at(source, alias)), "{source:?} {alias}");
    }
    assert_eq!(format!("{sources:?}"), r#"{"main", "odd"}"#);
}
