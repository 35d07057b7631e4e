//! `auth test`: one small request with a credential, and what its answer means.

use std::io;

use axum::body::Bytes;
use axum::http::HeaderMap;
use clap::Args;
use jiff::Timestamp;
use openclaw_auth_store::{Credential, profile_secret};
use openclaw_classify::error_chain;
use openclaw_classify::{Failure, Reason, classify, describe, redact};
use openclaw_config::Environment;
use openclaw_gateway::USER_AGENT;
use openclaw_gateway::providers::SecretSources;
use openclaw_gateway::providers::attempt_deadlines;
use openclaw_gateway::providers::wire_support::first_wire;
use openclaw_gateway::providers::{known, secret_kind};
use openclaw_gateway::report::left;
use openclaw_ids::{AgentId, ModelRef, ProfileId, ProviderId};
use openclaw_upstream::{Call, Upstream};
use openclaw_wire::RequestBody;
use serde::Serialize;
use serde_json::json;

use super::named;
use super::remove::NotStored;
use crate::cli::chain::{UnknownModel, no_address};
use crate::files::{AgentArg, CommonArgs, Files, ReadAgent, runtime};
use crate::outcome::{CommandError, Outcome};
use crate::terminal::progress::waiting;
use crate::terminal::screen::{Screen, now};
use crate::terminal::{Cell, Render, Style, Table};

/// Arguments of `auth test`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct TestArgs {
    /// The credentials, such as `openai:work`, or a provider for all of its own [default: all that would be tried]
    #[arg(value_name = "PROFILE")]
    profiles: Vec<String>,
    /// The model to ask [default: the provider's first in the agent's chain]
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    #[command(flatten)]
    agent: AgentArg,
    #[command(flatten)]
    common: CommonArgs,
}

const EXAMPLES: &str = "\
A request of one line is sent and hung up on at the first word of the answer. Nothing is recorded:
windows neither open nor end. A credential that works again is set free with `cooldown clear`.

Examples:
  openclaw-gateway auth test                                     Everything that would be tried
  openclaw-gateway auth test openai                              All credentials of a provider
  openclaw-gateway auth test openai:work --model openai/gpt-5.5  One credential, one model

Exit status: 0 when all of them answered, 1 when one did not, 2 when it cannot ask.";

/// What came of one request.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct TestedCredential {
    profile: ProfileId,
    model: ModelRef,
    outcome: TestResult,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Reason>,
    /// The classification rule that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    /// What was said, redacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// When the provider says that it is over, in Unix milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    reset_at: Option<i64>,
}

/// What an answer says of the credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum TestResult {
    /// It works.
    Answered,
    /// The answer does not say.
    Failed,
    /// It works, and its limits are used up.
    Limited,
    /// The provider does not take it, or not without money.
    Refused,
}

impl TestResult {
    fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Failed => "failed",
            Self::Limited => "limited",
            Self::Refused => "refused",
        }
    }

    fn tone(self) -> Style {
        match self {
            Self::Answered => Style::Good,
            Self::Limited => Style::Warn,
            Self::Failed | Self::Refused => Style::Bad,
        }
    }
}

/// Why nothing can be asked.
#[derive(Debug, thiserror::Error)]
enum AskError {
    #[error("there is nothing to test: agent `{0}` has no credential; store one with `auth add <provider>`")]
    Nothing(AgentId),
    #[error("agent `{agent}` has no credential for `{provider}`; store one with `auth add {provider}`")]
    NoCredential { provider: ProviderId, agent: AgentId },
    #[error("no model of `{0}` is known; name one with --model {0}/<model>")]
    NoModel(ProviderId),
    #[error("the request cannot be made")]
    Request(#[source] openclaw_wire::BodyError),
}

/// Asks with every credential, one after the other.
pub(in crate::cli) fn run(
    environment: &Environment,
    arguments: &TestArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    let files = Files::open(&arguments.common.places, environment)?;
    let agent = ReadAgent::open(&files, &arguments.agent.id(&files)?)?;
    let ids = ids(arguments, &files, &agent)?;
    // What cannot be asked is reported before any request is sent.
    let askings = ids.iter().map(|id| TestCall::of(arguments, &files, &agent, id));
    let askings = askings.collect::<Result<Vec<_>, _>>()?;
    let upstream = Upstream::new(USER_AGENT);
    let runtime = runtime()?;
    let mut tested = Vec::new();
    for asking in &askings {
        let what = format!("Asking {} with {}", asking.model, asking.id);
        tested.push(runtime.block_on(waiting(&what, asking.ask(&upstream)))?);
    }
    let report = TestReport {
        agent: &agent.id,
        tested,
    };
    screen.render(&report, arguments.common.output)?;
    let answered = report
        .tested
        .iter()
        .all(|tested| tested.outcome == TestResult::Answered);
    Ok(if answered {
        Outcome::Fine
    } else {
        Outcome::Findings
    })
}

/// The credentials that are meant.
fn ids(arguments: &TestArgs, files: &Files, agent: &ReadAgent) -> Result<Vec<ProfileId>, CommandError> {
    let of_provider = |provider: &ProviderId| {
        let installation = files.installation();
        openclaw_gateway::report::OrderOfProvider::of(&installation, &agent.seen, provider, now()).order
    };
    let mut ids: Vec<ProfileId> = Vec::new();
    // Each is asked with once, however often it was named.
    let mut add = |found: Vec<ProfileId>| {
        for id in found {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
    };
    if arguments.profiles.is_empty() {
        for model in files.resolver.configured_chain(&agent.id) {
            add(of_provider(model.provider()));
        }
    }
    for text in &arguments.profiles {
        let (provider, id) = named(text)?;
        if text.contains(':') {
            if agent.seen.credential(&id).is_none() {
                let agent = agent.id.clone();
                return Err(NotStored::Unknown { profile: id, agent }.into());
            }
            add(vec![id]);
            continue;
        }
        let order = of_provider(&provider);
        if order.is_empty() {
            let agent = agent.id.clone();
            return Err(AskError::NoCredential { provider, agent }.into());
        }
        add(order);
    }
    if ids.is_empty() {
        return Err(AskError::Nothing(agent.id.clone()).into());
    }
    Ok(ids)
}

/// One request.
struct TestCall<'a> {
    files: &'a Files,
    agent: &'a ReadAgent,
    id: &'a ProfileId,
    model: ModelRef,
}

impl<'a> TestCall<'a> {
    fn of(
        arguments: &TestArgs,
        files: &'a Files,
        agent: &'a ReadAgent,
        id: &'a ProfileId,
    ) -> Result<Self, CommandError> {
        let provider = agent.seen.credential(id).map(Credential::provider);
        let provider = provider.cloned().ok_or_else(|| NotStored::Unknown {
            profile: id.clone(),
            agent: agent.id.clone(),
        })?;
        let model = match &arguments.model {
            Some(text) => {
                let model = files.resolver.resolve(text);
                model.ok_or_else(|| UnknownModel(text.clone()))?
            }
            None => usual_model(files, agent, &provider).ok_or(AskError::NoModel(provider))?,
        };
        Ok(Self {
            files,
            agent,
            id,
            model,
        })
    }

    async fn ask(&self, upstream: &Upstream) -> Result<TestedCredential, CommandError> {
        let provider = self.model.provider();
        let credential = self.agent.seen.credential(self.id);
        let credential = credential.ok_or_else(|| NotStored::Unknown {
            profile: self.id.clone(),
            agent: self.agent.id.clone(),
        })?;
        let endpoints = &self.files.endpoints;
        let Some(endpoint) = endpoints.of(provider, credential) else {
            return Ok(self.unsent(no_address(provider)));
        };
        if let Credential::Oauth(login) = credential
            && !login.is_usable(now())
        {
            let ended = "its token has ended or is about to; the gateway refreshes it with the next request"
                .to_owned();
            return Ok(self.unsent(ended));
        }
        let sources = SecretSources::new(&self.files.config.secrets, &self.files.environment);
        let secret =
            sources.with(|places| profile_secret(&self.agent.seen, &self.files.config.auth, self.id, places));
        let secret = match secret {
            Ok(secret) => secret,
            Err(error) => return Ok(self.unsent(error_chain::line(&error))),
        };
        let kind = secret_kind(endpoint, credential);
        let with_account = endpoints.logins().account_header(credential);
        let endpoint = match with_account {
            Some((name, value)) => &endpoint.clone().with_header(name, value),
            None => endpoint,
        };
        let wire = first_wire(endpoints, provider, credential);
        let text = wire.probe_request(self.model.model().as_str());
        let body = RequestBody::try_new(Bytes::from(text.to_string())).map_err(AskError::Request)?;
        let call = Call {
            endpoint,
            model: self.model.model().as_str(),
            secret: secret.as_ref(),
            kind,
            wire,
            headers: &HeaderMap::new(),
            body: &body,
            deadlines: attempt_deadlines(
                &self.files.config.failover.deadlines,
                &self.model,
                endpoint.answer_limit(),
            ),
        };
        Ok(match upstream.attempt(&call).await {
            Ok(_) => self.outcome(TestResult::Answered),
            Err(failure) => self.failed(&failure),
        })
    }

    fn outcome(&self, outcome: TestResult) -> TestedCredential {
        TestedCredential {
            profile: self.id.clone(),
            model: self.model.clone(),
            outcome,
            reason: None,
            rule: None,
            status: None,
            detail: None,
            reset_at: None,
        }
    }

    /// Nothing could be sent.
    fn unsent(&self, why: String) -> TestedCredential {
        TestedCredential {
            detail: Some(why),
            ..self.outcome(TestResult::Failed)
        }
    }

    fn failed(&self, failure: &Failure) -> TestedCredential {
        let failed = TestedCredential {
            status: failure.status,
            detail: Some(redact(&describe(failure))),
            ..self.outcome(TestResult::Failed)
        };
        match classify(failure, now()) {
            None => failed,
            Some(verdict) => TestedCredential {
                outcome: came(verdict.reason),
                reason: Some(verdict.reason),
                rule: Some(verdict.rule.to_string()),
                reset_at: verdict.hint.map(|hint| hint.at.as_millisecond()),
                ..failed
            },
        }
    }
}

/// What a reason says of the credential.
fn came(reason: Reason) -> TestResult {
    match reason {
        Reason::Auth | Reason::AuthPermanent | Reason::Billing => TestResult::Refused,
        Reason::RateLimit => TestResult::Limited,
        Reason::Aborted
        | Reason::ContentPolicy
        | Reason::ContextOverflow
        | Reason::EmptyResponse
        | Reason::Format
        | Reason::Local
        | Reason::ModelNotFound
        | Reason::NoErrorDetails
        | Reason::Overloaded
        | Reason::ServerError
        | Reason::SessionExpired
        | Reason::Timeout
        | Reason::Unclassified
        | Reason::Unknown => TestResult::Failed,
    }
}

/// A model of the provider that the agent would ask anyway, else the one that is used when nothing is configured.
fn usual_model(files: &Files, agent: &ReadAgent, provider: &ProviderId) -> Option<ModelRef> {
    let agents = std::iter::once(agent.id.clone()).chain(files.agents());
    let mut chains = agents.flat_map(|agent| files.resolver.configured_chain(&agent));
    let is_shared = |model: &ModelRef| files.aliases.share_credentials(model.provider(), provider);
    chains.find(is_shared).or_else(|| {
        let model = known(provider)?.default_model?;
        files.resolver.resolve(&format!("{provider}/{model}"))
    })
}

/// What came of all requests.
struct TestReport<'a> {
    agent: &'a AgentId,
    tested: Vec<TestedCredential>,
}

impl Render for TestReport<'_> {
    fn text(&self, screen: &mut Screen<'_>) -> io::Result<()> {
        screen.table(&table(&self.tested))?;
        for one in &self.tested {
            if let Some(detail) = &one.detail {
                screen.line(format!("\n{}: {detail}", one.profile))?;
            }
        }
        Ok(())
    }

    fn json(&self) -> impl Serialize {
        json!({"agent": self.agent, "tested": self.tested})
    }
}

fn table(tested: &[TestedCredential]) -> Table {
    let mut table = Table::new(&[
        "PROFILE", "MODEL", "OUTCOME", "REASON", "STATUS", "RULE", "OVER IN",
    ]);
    for one in tested {
        let reset = one.reset_at.and_then(|at| Timestamp::from_millisecond(at).ok());
        table.row([
            one.profile.as_str().into(),
            one.model.key().into(),
            Cell::new(one.outcome.tone(), one.outcome.as_str()),
            one.reason
                .map(|reason| reason.to_string())
                .unwrap_or_default()
                .into(),
            one.status
                .map(|status| status.to_string())
                .unwrap_or_default()
                .into(),
            one.rule.clone().unwrap_or_default().into(),
            reset.map(|at| left(at, now())).unwrap_or_default().into(),
        ]);
    }
    table
}
