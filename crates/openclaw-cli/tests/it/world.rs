//! A running gateway with its own state, and a client that shows what it received.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use faultwall::scripted::{Script, Upstream};
use openclaw_auth_store::SqliteAuthStore;
use openclaw_config::{ConfigFiles, Environment};
use openclaw_gateway::{Gateway, Setup};
use openclaw_ids::ProfileId;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A whole answer of an upstream.
pub(crate) const HELLO: &str = r#"{"id":"1","model":"upstream-name","choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}]}"#;

/// A whole answer, as a script.
pub(crate) fn hello() -> Script {
    Script::json(200, HELLO)
}

/// An error in OpenAI's shape, as a script.
pub(crate) fn refusal(status: u16, code: &str, message: &str) -> Script {
    let body = json!({"error": {"message": message, "type": code, "code": code}});
    Script::json(status, &body.to_string())
}

/// A gateway whose chain is one model `m` of each upstream, named `a`, `b`, … in order.
pub(crate) struct World {
    address: String,
    pub(crate) upstreams: Vec<Upstream>,
    pub(crate) state: Arc<TempDir>,
    pub(crate) gateway: Gateway,
    task: JoinHandle<()>,
}

/// What a client received.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) status: u16,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) body: String,
    /// Whether the body ended as HTTP says it should.
    pub(crate) whole: bool,
}

const NAMES: &[&str] = &["a", "b", "c", "d"];

impl World {
    /// One upstream per list of scripts.
    pub(crate) async fn start(scripts: Vec<Vec<Script>>) -> Self {
        Self::start_with(scripts, "", &[]).await
    }

    /// As [`start`](Self::start), with more members of the configuration's root and with variables.
    pub(crate) async fn start_with(
        scripts: Vec<Vec<Script>>,
        more: &str,
        variables: &[(&str, &str)],
    ) -> Self {
        let (upstreams, text) = Self::chain_of(scripts, more).await;
        Self::open(upstreams, &text, variables).await
    }

    /// One upstream per list of scripts, under these settings of our own.
    pub(crate) async fn start_under(failover: &str, scripts: Vec<Vec<Script>>) -> Self {
        let (upstreams, text) = Self::chain_of(scripts, "").await;
        Self::open_under(failover, upstreams, &text, &[]).await
    }

    async fn chain_of(scripts: Vec<Vec<Script>>, more: &str) -> (Vec<Upstream>, String) {
        let mut upstreams = Vec::new();
        for scripts in scripts {
            upstreams.push(Upstream::start(scripts).await);
        }
        let refs: Vec<String> = NAMES[..upstreams.len()]
            .iter()
            .map(|name| format!("'{name}/m'"))
            .collect();
        let (primary, fallbacks) = refs.split_first().expect("at least one upstream");
        let text = format!(
            "{{ agents: {{ defaults: {{ model: {{ primary: {primary}, fallbacks: [{}] }} }} }},
                models: {{ providers: {{ {} }} }}, {more} }}",
            fallbacks.join(", "),
            rows(&upstreams),
        );
        (upstreams, text)
    }

    /// A gateway with any configuration in front of `upstreams`.
    pub(crate) async fn open(upstreams: Vec<Upstream>, text: &str, variables: &[(&str, &str)]) -> Self {
        Self::open_under("{}", upstreams, text, variables).await
    }

    /// As [`open`](Self::open), under these settings of our own.
    pub(crate) async fn open_under(
        failover: &str,
        upstreams: Vec<Upstream>,
        text: &str,
        variables: &[(&str, &str)],
    ) -> Self {
        let state = tempfile::tempdir().expect("a temporary directory");
        Self::open_in(state, failover, upstreams, text, variables).await
    }

    /// As [`open_under`](Self::open_under), on a state that is there already.
    pub(crate) async fn open_in(
        state: TempDir,
        failover: &str,
        upstreams: Vec<Upstream>,
        text: &str,
        variables: &[(&str, &str)],
    ) -> Self {
        let (config, own) = (
            state.path().join("openclaw.json"),
            state.path().join("failover.json5"),
        );
        #[cfg(unix)]
        close(state.path());
        std::fs::write(&config, text).expect("a writable directory");
        std::fs::write(&own, failover).expect("a writable directory");
        Self::serve(Arc::new(state), upstreams, variables).await
    }

    /// Another gateway on the same state, as of another process.
    pub(crate) async fn beside(&self) -> Self {
        Self::serve(Arc::clone(&self.state), Vec::new(), &[]).await
    }

    async fn serve(state: Arc<TempDir>, upstreams: Vec<Upstream>, variables: &[(&str, &str)]) -> Self {
        let (config, own) = (
            state.path().join("openclaw.json"),
            state.path().join("failover.json5"),
        );
        let files = ConfigFiles::at(&config, &own);
        let setup = Setup {
            environment: Environment::of(variables.iter().copied(), state.path()),
            config: files.load().expect("a good configuration"),
            files: Some(files),
            state_dir: state.path().to_owned(),
            observer: None,
        };
        let gateway = Gateway::open(setup).await.expect("a gateway");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("a bound listener").to_string();
        let router = gateway.router();
        let task = tokio::spawn(async move {
            let service = router.into_make_service_with_connect_info::<SocketAddr>();
            axum::serve(listener, service)
                .await
                .expect("a listener that works");
        });
        Self {
            address,
            upstreams,
            state,
            gateway,
            task,
        }
    }

    /// The URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Replaces the configuration's text, and has it read again.
    pub(crate) async fn reload(&self, text: &str) -> Received {
        std::fs::write(self.state.path().join("openclaw.json"), text).expect("a writable directory");
        self.reload_files().await
    }

    /// Has the configuration read again.
    pub(crate) async fn reload_files(&self) -> Received {
        Received::of(client().post(self.url("/admin/v1/reload"))).await
    }

    /// Asks for `model` with `more` members in the body and `headers`.
    pub(crate) async fn ask(&self, model: &str, more: Value, headers: &[(&str, &str)]) -> Received {
        let mut body = json!({"model": model, "messages": [{"role": "user", "content": "Hi"}]});
        let members = more.as_object().cloned().unwrap_or_default();
        body.as_object_mut().expect("an object").extend(members);
        self.post(body.to_string(), headers).await
    }

    /// Asks for the configured chain, plainly.
    pub(crate) async fn ask_plain(&self) -> Received {
        self.ask("openclaw", json!({}), &[]).await
    }

    /// Asks for the configured chain, as a stream.
    pub(crate) async fn ask_stream(&self) -> Received {
        self.ask("openclaw", json!({"stream": true}), &[]).await
    }

    /// Posts any body.
    pub(crate) async fn post(&self, body: impl Into<reqwest::Body>, headers: &[(&str, &str)]) -> Received {
        self.post_to("/v1/chat/completions", body, headers).await
    }

    /// Posts any body to a path.
    pub(crate) async fn post_to(
        &self,
        path: &str,
        body: impl Into<reqwest::Body>,
        headers: &[(&str, &str)],
    ) -> Received {
        let mut request = client().post(self.url(path)).body(body);
        if !headers.iter().any(|(name, _)| *name == "content-type") {
            request = request.header("content-type", "application/json");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Received::of(request).await
    }

    /// Waits until the file of the credentials tells of a use of the profile, which may be a second late (D11).
    pub(crate) async fn use_is_written(&self, profile: &str) {
        let folder = self.state.path().join("agents/main/agent");
        let id = ProfileId::try_new(profile).unwrap();
        let written = || {
            let stored = SqliteAuthStore::read_snapshot(&folder, Vec::new()).unwrap();
            stored.usage(&id).last_used.is_some()
        };
        while !written() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Gets a path.
    pub(crate) async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Received {
        let mut request = client().get(self.url(path));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        Received::of(request).await
    }

    /// How many requests each upstream saw.
    pub(crate) fn calls(&self) -> Vec<usize> {
        self.upstreams
            .iter()
            .map(|upstream| upstream.seen().len())
            .collect()
    }
}

/// The provider rows of `upstreams`, which get the names `a`, `b`, … and, where they fall silent, a short wait.
pub(crate) fn rows(upstreams: &[Upstream]) -> String {
    let row = |(upstream, name): (&Upstream, &&str)| {
        let url = upstream.base_url();
        let wait = if upstream.falls_silent() { "0.3" } else { "60" };
        format!("{name}: {{ baseUrl: '{url}', apiKey: 'key-{name}', timeoutSeconds: {wait}, models: [] }}")
    };
    upstreams
        .iter()
        .zip(NAMES)
        .map(row)
        .collect::<Vec<_>>()
        .join(", ")
}

/// Closes a folder to others, so that nothing that is told depends on the umask.
#[cfg(unix)]
pub(crate) fn close(folder: &std::path::Path) {
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(folder, private).expect("a directory of this user");
}

impl Drop for World {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A client without any proxy.
pub(crate) fn client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().expect("a client")
}

impl Received {
    /// Sends a request and reads the whole answer.
    pub(crate) async fn of(request: reqwest::RequestBuilder) -> Self {
        let mut response = request.send().await.expect("an answer");
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let mut body = Vec::new();
        let whole = loop {
            match response.chunk().await {
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => break true,
                Err(_) => break false,
            }
        };
        Self {
            status,
            headers,
            body: String::from_utf8(body).expect("text"),
            whole,
        }
    }

    /// A header's text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("JSON")
    }

    /// Status, headers of our own and body, without what differs from run to run.
    pub(crate) fn show(&self) -> String {
        let mut shown = format!("{}\n", self.status);
        let mut names: Vec<&str> = self
            .headers
            .keys()
            .map(reqwest::header::HeaderName::as_str)
            .collect();
        names.sort_unstable();
        for name in names {
            let value = match name {
                "content-length" | "date" => continue,
                "x-openclaw-own-ms" | "x-openclaw-upstream-ms" => "<ms>",
                "x-openclaw-request-id" => "<id>",
                _ => self.header(name).unwrap_or_default(),
            };
            writeln!(shown, "{name}: {value}").expect("a string takes text");
        }
        let body = match serde_json::from_str::<Value>(&self.body) {
            Ok(mut body) => {
                if let Some(expiry) = body
                    .pointer_mut("/error/soonestCooldownExpiry")
                    .filter(|expiry| expiry.is_u64())
                {
                    *expiry = "<ms>".into();
                }
                serde_json::to_string_pretty(&body).expect("JSON")
            }
            Err(_) => self.body.clone(),
        };
        shown + "\n" + &body
    }
}
