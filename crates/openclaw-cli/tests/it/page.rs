//! The page at `/`: what it shows, whom it shows it to, and that a browser runs it.

use std::io::ErrorKind;
use std::process::{Command, Stdio};

use faultwall::scripted::Script;
use serde_json::json;

use crate::world::{World, hello};

const SESSION: &[(&str, &str)] = &[("x-openclaw-session-key", "agent:main:<b>chat</b>")];

fn limited() -> Script {
    Script::reply(
        429,
        &[("retry-after", "600")],
        r#"{"error":{"code":"rate_limit_exceeded","message":"<script>alert(1)</script>"}}"#,
    )
}

/// A gateway whose conversation is on its fallback.
async fn on_fallback() -> World {
    let world = World::start(vec![vec![limited()], vec![hello()]]).await;
    world.ask("openclaw", json!({}), SESSION).await;
    world
}

#[tokio::test]
async fn it_shows_what_happens_and_holds_what_others_said_as_text() {
    let world = on_fallback().await;
    let page = world.get("/", &[]).await;
    assert_eq!(page.status, 200, "{}", page.body);
    for shown in [
        "b/m answered for a/m (rate limit)",
        "agent:main:&lt;b&gt;chat&lt;/b&gt;",
        "a:config",
        "class=\"window\"",
        "1. a/m ",
        "<svg class=\"strip\"",
    ] {
        assert!(page.body.contains(shown), "{shown}: {}", page.body);
    }
    for hidden in ["<b>", "<script>", "key-a", " style="] {
        assert!(!page.body.contains(hidden), "{hidden}: {}", page.body);
    }
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    for (path, kind) in [
        ("/page.css", "text/css; charset=utf-8"),
        ("/page.js", "text/javascript; charset=utf-8"),
        ("/admin/v1/page", "text/html; charset=utf-8"),
    ] {
        let part = world.get(path, &[]).await;
        assert_eq!(
            (part.status, part.header("content-type")),
            (200, Some(kind)),
            "{path}"
        );
    }
}

#[tokio::test]
async fn where_a_token_is_asked_for_it_holds_nothing_without() {
    let world = World::start_with(vec![vec![hello()]], "", &[("OPENCLAW_GATEWAY_TOKEN", "t")]).await;
    let page = world.get("/", &[]).await;
    assert_eq!(page.status, 200);
    assert!(page.body.contains("data-asks=\"token\"") && !page.body.contains("a:config"));
    assert_eq!(world.get("/admin/v1/page", &[]).await.status, 401);
    let told = world
        .get("/admin/v1/page", &[("authorization", "Bearer t")])
        .await;
    assert!(told.body.contains("a:config"), "{}", told.body);
}

#[tokio::test]
async fn it_is_closed_where_the_admin_surface_is() {
    let off = World::start_under("{ admin: 'off' }", vec![vec![hello()]]).await;
    assert_eq!(off.get("/", &[]).await.status, 404);
    let world = World::start(vec![vec![hello()]]).await;
    let rebound = world.get("/", &[("host", "rebound.example")]).await;
    assert_eq!(rebound.status, 403);
}

#[tokio::test]
async fn a_history_that_cannot_be_read_costs_the_last_decisions_alone() {
    let state = tempfile::tempdir().unwrap();
    let history = state.path().join("openclaw-failover-history.sqlite");
    std::fs::write(
        history,
        "no database at all, and longer than the head of one".repeat(99),
    )
    .unwrap();
    let text = "{ agents: { defaults: { model: 'ollama/m' } } }";
    let world = World::open_in(state, "{}", Vec::new(), text, &[]).await;
    let page = world.get("/", &[]).await;
    assert_eq!(page.status, 200, "{}", page.body);
    for shown in [
        "Agent main",
        "The last decisions</strong> cannot be shown: ",
        "is damaged",
    ] {
        assert!(page.body.contains(shown), "{shown}: {}", page.body);
    }
}

/// The page as a browser shows it after its script ran; none where no browser is installed.
async fn seen_by_a_browser(url: String) -> Option<String> {
    let work = move || {
        let profile = tempfile::tempdir().unwrap();
        for browser in ["chromium", "chromium-browser", "google-chrome"] {
            let shown = Command::new(browser)
                .args([
                    "--headless",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--disable-quic",
                    "--no-first-run",
                    "--disable-background-networking",
                    "--disable-component-update",
                    "--disable-sync",
                    "--disable-dev-shm-usage",
                    "--virtual-time-budget=5000",
                    "--dump-dom",
                ])
                .arg(format!("--user-data-dir={}", profile.path().display()))
                .arg(&url)
                .stderr(Stdio::null())
                .output();
            match shown {
                Ok(shown) => return Some(String::from_utf8(shown.stdout).unwrap()),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => panic!("{browser} does not run: {error}"),
            }
        }
        None
    };
    tokio::task::spawn_blocking(work).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_runs_it() {
    let world = on_fallback().await;
    let Some(shown) = seen_by_a_browser(world.url("/")).await else {
        assert!(
            option_env!("OPENCLAW_BROWSER_TESTS") != Some("required"),
            "no browser is installed; install chromium"
        );
        eprintln!("skipped: no browser is installed; install chromium to see the page run");
        return;
    };
    assert!(
        shown.contains(">Live.</span>"),
        "its script ran, and may ask this gateway: {shown}"
    );
    assert!(shown.contains("b/m answered for a/m"), "{shown}");
    assert!(
        !shown.contains("data-clear=\"a:config\" hidden"),
        "what needs the script is shown by it"
    );
}
