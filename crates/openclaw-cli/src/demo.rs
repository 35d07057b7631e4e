//! `serve --demo`: failover at work without a key, a configuration or a network.

mod narrator;
mod providers;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openclaw_auth_store::{Credential, ProfileStore, Secret, SqliteAuthStore};
use openclaw_config::{Config, Environment, FileError, default_credentials_folder};
use openclaw_gateway::Setup;
use openclaw_gateway::state::TOKEN_VARIABLE;
use openclaw_ids::{AgentId, IdError, ProfileId, ProviderId};
use openclaw_runner::{Clock, SystemClock};
use tempfile::TempDir;

use narrator::Narrator;
use providers::SimulatedProviders;

/// The demo cannot start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DemoError {
    /// Its configuration.
    #[error(transparent)]
    Config(#[from] FileError),
    /// A name in it.
    #[error(transparent)]
    Id(#[from] IdError),
    /// A simulated provider, or the directory for its state.
    #[error(
        "cannot start the demo; it needs free loopback ports and a writable directory for temporary files"
    )]
    Machine(#[from] io::Error),
    /// Its state cannot be opened.
    #[error("cannot prepare the demo's state")]
    Open(#[from] openclaw_auth_store::OpenError),
    /// Its state cannot be written.
    #[error("cannot prepare the demo's state")]
    Store(#[from] openclaw_auth_store::StoreError),
}

/// The agents of the demo. Cooldowns are per agent, so each shows the whole story once.
const AGENTS: &[&str] = &["main", "streaming", "doomed"];
/// The two keys of the provider `limited`: profile and key.
const KEYS: &[(&str, &str)] = &[
    ("limited:first", providers::FIRST_KEY),
    ("limited:second", providers::SECOND_KEY),
];

/// Simulated providers and a state directory that go away with this value.
pub(crate) struct Demo {
    config: Config,
    state: TempDir,
    narrator: Arc<Narrator>,
    /// Stops the providers when dropped.
    _providers: SimulatedProviders,
}

impl Demo {
    /// The log filter of the demo: its narrator writes the decisions instead.
    pub(crate) const LOG_FILTER: &str = "warn,model_fallback=off,profile_rotation=off";

    /// Starts the providers on free loopback ports and prepares the state.
    pub(crate) async fn start() -> Result<Self, DemoError> {
        let providers = SimulatedProviders::start().await?;
        let mut folder = tempfile::Builder::new();
        folder.prefix("openclaw-demo-");
        // So that a check of it finds nothing that it would find elsewhere.
        #[cfg(unix)]
        folder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let state = folder.tempdir()?;
        let (path, text) = (state.path().join("openclaw.json"), configuration(&providers));
        let config = Config::parse(&path, &text)?;
        // For commands that look at the demo from another terminal.
        std::fs::write(&path, text)?;
        for agent in AGENTS {
            store_keys(state.path(), &AgentId::new(agent)).await?;
        }
        let narrator = Arc::new(Narrator::new(Box::new(io::stdout())));
        Ok(Self {
            config,
            state,
            narrator,
            _providers: providers,
        })
    }

    /// The gateway of the demo. Of the real environment only the gateway's token counts.
    pub(crate) fn setup(&self, environment: &Environment) -> Setup {
        let token = environment
            .get(TOKEN_VARIABLE)
            .map(|token| (TOKEN_VARIABLE, token));
        Setup {
            environment: Environment::of(token, self.state.path()),
            config: self.config.clone(),
            files: None,
            state_dir: self.state.path().to_owned(),
            observer: Some(Arc::clone(&self.narrator) as _),
        }
    }

    /// Says what there is and what to type.
    pub(crate) fn introduce(&self, address: SocketAddr, output: &mut dyn Write) -> io::Result<()> {
        // A program that was just built is not on the path, so its full path is printed.
        let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("openclaw-gateway"));
        output.write_all(introduction(address, self.state.path(), &program).as_bytes())?;
        output.flush()
    }
}

fn configuration(providers: &SimulatedProviders) -> String {
    let urls = providers.base_urls();
    let rows =
        urls.map(|(name, url)| format!("{name}: {{ baseUrl: '{url}', apiKey: 'demo-{name}', models: [] }}"));
    let chain = "{ primary: 'limited/large', fallbacks: ['busy/large', 'flaky/large', 'steady/large'] }";
    let doomed = "{ primary: 'limited/large', fallbacks: ['busy/large'] }";
    format!(
        "{{ agents: {{ defaults: {{ model: {chain} }},
                       list: [{{ id: 'main', default: true }}, {{ id: 'streaming' }}, {{ id: 'doomed', model: {doomed} }}] }},
            models: {{ providers: {{ {} }} }},
            auth: {{ order: {{ limited: ['limited:first', 'limited:second'] }} }} }}",
        rows.collect::<Vec<_>>().join(", ")
    )
}

async fn store_keys(state: &Path, agent: &AgentId) -> Result<(), DemoError> {
    let now = SystemClock.now();
    let store = SqliteAuthStore::open(
        &default_credentials_folder(state, agent),
        agent,
        Vec::new(),
        openclaw_cooldown::CooldownConfig::default(),
        now,
    )?;
    let provider = ProviderId::try_new("limited")?;
    for (profile, key) in KEYS {
        let credential = Credential::api_key(provider.clone(), Secret::new(*key));
        store
            .upsert(ProfileId::try_new(profile)?, credential, now)
            .await?;
    }
    Ok(())
}

/// What is printed at the start.
fn introduction(address: SocketAddr, state: &Path, program: &Path) -> String {
    let curl = |flags: &str, model: &str, more: &str| {
        format!(
            "curl {flags} http://{address}/v1/chat/completions -H 'content-type: application/json' \
             -d '{{\"model\":\"{model}\",{more}\"messages\":[{{\"role\":\"user\",\"content\":\"Hi\"}}]}}'"
        )
    };
    format!(
        "\
Demo: four simulated providers, real HTTP between them, nothing leaves this machine.

  limited/large  its first key is rate-limited (429), its second key has an unpaid bill (402)
  busy/large     is overloaded (529)
  flaky/large    breaks off its streams before the first word, and shows an error page to everybody else
  steady/large   answers

Listening on http://{address}/v1. Try, in another terminal:

1. A request that ends at the fourth model:
{}

2. The same as a stream:
{}

3. A chain whose every model fails, and the summary of what was tried:
{}

4. What an operator sees of it (also: status, cooldown history, session list):
OPENCLAW_STATE_DIR={} {} explain

Run one again, and resting keys are skipped. Every decision is told below; Ctrl-C ends the demo and removes its state.
",
        curl("-i", "openclaw", ""),
        curl("-iN", "openclaw/streaming", "\"stream\":true,"),
        curl("-i", "openclaw/doomed", ""),
        state.display(),
        program.display(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_introduction_says_what_to_type() {
        insta::assert_snapshot!(
            "introduction",
            introduction(
                "127.0.0.1:18789".parse().unwrap(),
                Path::new("/tmp/openclaw-demo"),
                Path::new("target/release/openclaw-gateway"),
            )
        );
    }
}
