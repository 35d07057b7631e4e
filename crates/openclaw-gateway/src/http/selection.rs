//! Which agent and which model a request asks for (A9).

use axum::http::HeaderMap;
use openclaw_chain::{ChainConfig, OneOffPolicy, Resolver, RunKind};
use openclaw_config::BodyModelPolicy;
use openclaw_ids::{AgentId, ModelRef, ProviderId, SessionKey};
use openclaw_runner::ChainKind;
use openclaw_session::TurnKind;
use openclaw_wire::{RequestKind, WireFormat};

use super::conversation::session_key;
use super::headers::request;
use crate::providers::Endpoints;

/// The name under which clients ask for the configured selection.
pub(crate) const OWN_MODEL: &str = "openclaw";

/// What a request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The agent.
    pub(crate) agent: AgentId,
    /// Which model, and what may follow it.
    pub(crate) run: RunKind,
    /// What kind of chain follows the model.
    pub(crate) chain: ChainKind,
    /// The session, if the client keeps one.
    pub(crate) session: Option<SessionKey>,
}

impl Asked {
    /// What the turn may do to the session: a one-off model leaves it alone (S-2.1 row I).
    pub(crate) fn turn_kind(&self) -> TurnKind {
        match self.run {
            RunKind::OneOff { .. } => TurnKind::OneOff,
            RunKind::Cron(_)
            | RunKind::Heartbeat { .. }
            | RunKind::MemoryFlush { .. }
            | RunKind::Subagent
            | RunKind::Turn => TurnKind::Normal,
        }
    }
}

/// A request that names nothing we have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AskError {
    /// The body names one agent and the header another.
    #[error(
        "the model names agent `{body}` and {} names agent `{header}`; name one of them",
        request::AGENT_ID
    )]
    Agents {
        /// By the body.
        body: AgentId,
        /// By the header.
        header: AgentId,
    },
    /// A header that may be there once is there several times.
    #[error("the header {header} was sent more than once; send it once")]
    Repeated {
        /// Its name.
        header: &'static str,
    },
    /// A value is longer than anything that can be meant.
    #[error("{what} is longer than {limit} characters, the most this gateway takes")]
    TooLong {
        /// What it is.
        what: &'static str,
        /// The most characters.
        limit: usize,
    },
    /// A header's value means nothing.
    #[error("the header {header} must be {expected}")]
    Header {
        /// Its name.
        header: &'static str,
        /// What it may hold.
        expected: &'static str,
    },
    /// Embeddings of the configured chain, which is made of models for text.
    #[error("embeddings come from the model you name; ask for a `provider/model` instead of `openclaw`")]
    NoEmbeddingModel,
    /// No candidate can read the request.
    #[error("no model that was asked for speaks {}; name one whose provider does", .0.name())]
    NotSpoken(WireFormat),
    /// No candidate has a credential that is good for the request's format.
    #[error(
        "`{provider}` has only logins, which do not answer {}; add a key for it, or ask in the format of its logins",
        wire.name()
    )]
    OnlyLogins {
        /// The first provider that was left out.
        provider: ProviderId,
        /// The format.
        wire: WireFormat,
    },
    /// A run over the image chain, which is not configured.
    #[error(
        "no image model is configured; set agents.defaults.imageModel, or name a model instead of `openclaw`"
    )]
    NoImageModel,
    /// The model exists for others, but the allowlist of this agent leaves it out.
    #[error(
        "model `{0}` is not in agents.defaults.models, the list of models that may be chosen; add it there"
    )]
    NotAllowed(ModelRef),
    /// No such agent.
    #[error("there is no agent `{agent}`; the agents are {known}")]
    UnknownAgent {
        /// As asked for.
        agent: String,
        /// The configured ones.
        known: String,
    },
    /// No such model.
    #[error(
        "there is no model `{model}`; ask for `openclaw` (the configured chain), `openclaw/<agent>`, or \
         `provider/model` with one of the configured providers; GET /v1/models lists them"
    )]
    UnknownModel {
        /// As asked for.
        model: String,
    },
}

/// The longest name of a model, in characters.
const MAX_MODEL: usize = 400;
/// The longest id of an agent, in characters.
const MAX_AGENT_ID: usize = 200;

/// What a request is judged by.
pub(crate) struct Catalogue<'a> {
    /// Agents.
    pub(crate) chain: &'a ChainConfig,
    /// Aliases, allowlists and chains.
    pub(crate) resolver: &'a Resolver,
    /// Providers that can be called.
    pub(crate) endpoints: &'a Endpoints,
    /// What a `provider/model` in the body means without a header.
    pub(crate) policy: BodyModelPolicy,
}

impl Catalogue<'_> {
    /// Reads the body's `model` and what it says of its user together with the headers.
    pub(crate) fn read(
        &self,
        wire: WireFormat,
        model: &str,
        user: Option<&str>,
        headers: &HeaderMap,
    ) -> Result<Asked, AskError> {
        let asked = self.read_text(model, headers)?;
        match wire.kind() {
            RequestKind::Conversation => Ok(Asked {
                session: session_key(&asked.agent, user, headers)?,
                ..asked
            }),
            // A count is about the request, not about the conversation.
            RequestKind::TokenCount => Ok(asked),
            // Vectors of different models cannot be compared, so no other model may take over.
            RequestKind::Embeddings => match asked.run {
                RunKind::OneOff { model, .. } => Ok(Asked {
                    run: RunKind::OneOff {
                        model,
                        policy: OneOffPolicy::Strict,
                    },
                    chain: ChainKind::Text,
                    ..asked
                }),
                _ => Err(AskError::NoEmbeddingModel),
            },
        }
    }

    fn read_text(&self, model: &str, headers: &HeaderMap) -> Result<Asked, AskError> {
        let model = within(model.trim(), "the name of the model", MAX_MODEL)?;
        let (own, named) = match model.split_once('/') {
            Some((OWN_MODEL, agent)) => (true, Some(agent)),
            _ => (model == OWN_MODEL, None),
        };
        let agent = self.agent(named, headers)?;
        let run = if let Some(over) = text(headers, request::MODEL, "a model such as `openai/gpt-5.5`")? {
            let over = within(over, "the name of the model", MAX_MODEL)?;
            RunKind::OneOff {
                model: self.select(&agent, over)?,
                policy: OneOffPolicy::Strict,
            }
        } else if own {
            RunKind::Turn
        } else {
            RunKind::OneOff {
                model: self.select(&agent, model)?,
                policy: self.policy(headers)?,
            }
        };
        let chain = chain_kind(headers)?;
        Ok(Asked {
            agent,
            run,
            chain,
            session: None,
        })
    }

    fn agent(&self, named: Option<&str>, headers: &HeaderMap) -> Result<AgentId, AskError> {
        const WHAT: &str = "the id of the agent";
        let in_body = named.map(|text| within(text, WHAT, MAX_AGENT_ID)).transpose()?;
        let in_header = text(headers, request::AGENT_ID, "the id of an agent")?;
        let in_header = in_header
            .map(|text| within(text, WHAT, MAX_AGENT_ID))
            .transpose()?;
        let Some(asked) = in_body.or(in_header) else {
            return Ok(self.chain.default_agent());
        };
        let agent = AgentId::new(asked);
        if let Some(header) = in_header.map(AgentId::new).filter(|header| *header != agent) {
            return Err(AskError::Agents { body: agent, header });
        }
        let ids = self.chain.agent_ids();
        if ids.contains(&agent) {
            return Ok(agent);
        }
        let known: Vec<&str> = ids.iter().map(AgentId::as_str).collect();
        Err(AskError::UnknownAgent {
            agent: asked.to_owned(),
            known: known.join(", "),
        })
    }

    /// The model a text means: an alias, or a reference whose provider can be called.
    pub(crate) fn select(&self, agent: &AgentId, text: &str) -> Result<ModelRef, AskError> {
        let unknown = || AskError::UnknownModel {
            model: text.to_owned(),
        };
        let model = self.resolver.resolve(text).ok_or_else(unknown)?;
        let is_configured = || self.resolver.configured_chain(agent).contains(&model);
        // A bare name would otherwise be taken for a model of the primary's provider, whatever it is.
        let is_written_out = text.contains('/');
        let is_callable = self.endpoints.get(model.provider()).is_some();
        if !is_callable || !(is_written_out || is_configured() || self.is_alias(text, &model)) {
            return Err(unknown());
        }
        if self.resolver.is_allowed(agent, &model) || is_configured() {
            return Ok(model);
        }
        Err(AskError::NotAllowed(model))
    }

    /// Whether a bare text is a configured short name and not just read as `<primary's provider>/<text>`.
    fn is_alias(&self, text: &str, model: &ModelRef) -> bool {
        let primary = self.resolver.primary();
        model.provider() != primary.provider() || model.model().as_str() != text.trim()
    }

    /// What a `provider/model` means when no header says so.
    pub(crate) fn usual_policy(&self) -> OneOffPolicy {
        match self.policy {
            BodyModelPolicy::Auto => OneOffPolicy::ChainWhenConfigured,
            BodyModelPolicy::Chain => OneOffPolicy::Chain,
            BodyModelPolicy::Strict => OneOffPolicy::Strict,
        }
    }

    fn policy(&self, headers: &HeaderMap) -> Result<OneOffPolicy, AskError> {
        const EXPECTED: &str = "`strict` or `chain`";
        match text(headers, request::POLICY, EXPECTED)? {
            Some("chain") => Ok(OneOffPolicy::Chain),
            Some("strict") => Ok(OneOffPolicy::Strict),
            Some(_) => Err(AskError::Header {
                header: request::POLICY,
                expected: EXPECTED,
            }),
            None => Ok(self.usual_policy()),
        }
    }
}

/// `text`, when it has at most `limit` characters.
pub(crate) fn within<'t>(text: &'t str, what: &'static str, limit: usize) -> Result<&'t str, AskError> {
    if text.chars().nth(limit).is_some() {
        return Err(AskError::TooLong { what, limit });
    }
    Ok(text)
}

fn chain_kind(headers: &HeaderMap) -> Result<ChainKind, AskError> {
    const EXPECTED: &str = "`image` or `text`";
    match text(headers, request::RUN, EXPECTED)? {
        Some("image") => Ok(ChainKind::Image),
        Some("text") | None => Ok(ChainKind::Text),
        Some(_) => Err(AskError::Header {
            header: request::RUN,
            expected: EXPECTED,
        }),
    }
}

/// A header's text, trimmed; a blank one counts as absent. Which of two values counts would be a guess.
pub(crate) fn text<'h>(
    headers: &'h HeaderMap,
    header: &'static str,
    expected: &'static str,
) -> Result<Option<&'h str>, AskError> {
    let mut values = headers.get_all(header).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(AskError::Repeated { header });
    }
    // Names of people and things may be written in any script.
    let text = std::str::from_utf8(value.as_bytes())
        .map_err(|_| AskError::Header { header, expected })?
        .trim();
    Ok((!text.is_empty()).then_some(text))
}

#[cfg(test)]
mod tests;
