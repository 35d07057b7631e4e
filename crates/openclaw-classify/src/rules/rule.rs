//! The shape of a row of the rule tables (classify.md C-1.3, C-3).

use crate::failure::Transport;
use crate::{Certainty, Failure, Owner, Reason, RuleId, Scope};

/// One row: what must be seen, and what it means.
#[derive(Debug)]
pub struct Rule {
    /// Stable id; logs, errors and `explain` show it.
    pub id: &'static str,
    /// The reason it stands for.
    pub then: Reason,
    /// Whether seeing it is as good as being told.
    pub certainty: Certainty,
    /// Whose fault, and what a mark concerns.
    pub concern: Concern,
    /// A failure that this row, and no earlier one, claims.
    pub example: Example,
    pub(crate) saw: Saw,
    pub(crate) unless: &'static [&'static str],
    pub(crate) families: &'static [Family],
    pub(crate) statuses: &'static [(u16, u16)],
}

/// What a row looks at.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Saw {
    /// The other conditions are enough.
    Anything,
    /// One of these codes or types, as letters and digits only.
    Codes(&'static [&'static str]),
    /// Nothing usable: no text, no code.
    Silence,
    /// One of these phrases (see `phrase.rs`).
    Phrases(&'static [&'static str]),
    /// One of these transport facts.
    Transports(&'static [Transport]),
}

/// Whose fault a failure is and what it concerns, as C-10 groups them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concern {
    /// What the table of C-10 says for the reason.
    Usual,
    /// The whole account: a subscription, a usage window, an organization.
    Account,
    /// The caller's own doing.
    Caller,
    /// The model, although the reason usually concerns more.
    Model,
    /// Nothing reached the provider.
    Network,
    /// This process or machine.
    Us,
}

/// The failure that shows what a row is for.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// Provider id, or empty.
    pub provider: &'static str,
    /// Status, or 0.
    pub status: u16,
    /// Code, or empty.
    pub code: &'static str,
    /// Message, or empty.
    pub message: &'static str,
    /// What happened to the connection.
    pub transport: Option<Transport>,
}

impl Example {
    const NONE: Self = Self {
        provider: "",
        status: 0,
        code: "",
        message: "",
        transport: None,
    };

    /// The example as a failure.
    pub fn failure(&self) -> Failure {
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        Failure {
            provider: openclaw_ids::ProviderId::try_new(self.provider).ok(),
            status: Some(self.status).filter(|status| *status > 0),
            code: some(self.code),
            message: some(self.message),
            transport: self.transport,
            ..Failure::default()
        }
    }
}

/// Only a message.
pub(crate) const fn text(message: &'static str) -> Example {
    Example {
        message,
        ..Example::NONE
    }
}

/// Only a code.
pub(crate) const fn code(code: &'static str) -> Example {
    Example {
        code,
        ..Example::NONE
    }
}

/// Only a status.
pub(crate) const fn status(status: u16) -> Example {
    Example {
        status,
        ..Example::NONE
    }
}

/// Only a transport fact.
pub(crate) const fn transport(transport: Transport) -> Example {
    Example {
        transport: Some(transport),
        ..Example::NONE
    }
}

impl Example {
    pub(crate) const fn by(mut self, provider: &'static str) -> Self {
        self.provider = provider;
        self
    }

    pub(crate) const fn at(mut self, status: u16) -> Self {
        self.status = status;
        self
    }
}

impl Rule {
    /// A row that sees `saw`, explicit, with the usual concern.
    pub(crate) const fn new(id: &'static str, then: Reason, saw: Saw, example: Example) -> Self {
        Self {
            id,
            then,
            certainty: Certainty::Explicit,
            concern: Concern::Usual,
            example,
            saw,
            unless: &[],
            families: &[],
            statuses: &[],
        }
    }

    pub(crate) const fn codes(
        id: &'static str,
        then: Reason,
        codes: &'static [&'static str],
        example: Example,
    ) -> Self {
        Self::new(id, then, Saw::Codes(codes), example)
    }

    pub(crate) const fn phrases(
        id: &'static str,
        then: Reason,
        phrases: &'static [&'static str],
        example: Example,
    ) -> Self {
        Self::new(id, then, Saw::Phrases(phrases), example)
    }

    /// Only these statuses.
    pub(crate) const fn at(mut self, statuses: &'static [(u16, u16)]) -> Self {
        self.statuses = statuses;
        self
    }

    /// Only these providers.
    pub(crate) const fn by(mut self, families: &'static [Family]) -> Self {
        self.families = families;
        self
    }

    /// Not next to these phrases.
    pub(crate) const fn unless(mut self, phrases: &'static [&'static str]) -> Self {
        self.unless = phrases;
        self
    }

    /// Concerns more, or less, than usual.
    pub(crate) const fn concerning(mut self, concern: Concern) -> Self {
        self.concern = concern;
        self
    }

    /// A guess that only the status or a catch-all code supports.
    pub(crate) const fn vague(mut self) -> Self {
        self.certainty = Certainty::Default;
        self
    }

    /// The id as it stands in a verdict.
    pub fn rule_id(&self) -> RuleId {
        RuleId::shipped(self.id)
    }

    /// Owner and scope of a mark (C-10).
    pub(crate) fn owner_and_scope(&self) -> (Owner, Scope) {
        match self.concern {
            Concern::Usual => usual(self.then),
            Concern::Account => (Owner::Credential, Scope::Profile),
            Concern::Caller => (Owner::Caller, Scope::None),
            Concern::Model => (Owner::Provider, Scope::Model),
            Concern::Network => (Owner::Network, Scope::Endpoint),
            Concern::Us => (Owner::Us, Scope::None),
        }
    }
}

/// The table of C-10.
pub(crate) fn usual(reason: Reason) -> (Owner, Scope) {
    match reason {
        Reason::Auth | Reason::AuthPermanent | Reason::Billing => (Owner::Credential, Scope::Profile),
        Reason::RateLimit => (Owner::Credential, Scope::Model),
        Reason::ModelNotFound => (Owner::Model, Scope::Model),
        Reason::Overloaded | Reason::ServerError | Reason::Timeout => (Owner::Provider, Scope::Model),
        Reason::ContentPolicy | Reason::ContextOverflow | Reason::Format => (Owner::Content, Scope::None),
        Reason::EmptyResponse
        | Reason::NoErrorDetails
        | Reason::SessionExpired
        | Reason::Unclassified
        | Reason::Unknown => (Owner::Provider, Scope::None),
        Reason::Aborted => (Owner::Caller, Scope::None),
        Reason::Local => (Owner::Us, Scope::None),
    }
}

/// Providers that speak alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Alibaba,
    Anthropic,
    Bedrock,
    Cloudflare,
    Copilot,
    Google,
    Kimi,
    Minimax,
    Ollama,
    OpenAi,
    OpenRouter,
    Together,
    Volcengine,
    Xai,
    Zai,
}

/// Ids, and hosts for ids of people's own choosing (C-6). An id also stands for `<id>-…`.
#[rustfmt::skip]
pub(crate) const FAMILIES: &[(Family, &[&str], &[&str])] = &[
    (Family::Alibaba, &["alibaba", "aliyun", "bailian", "dashscope", "modelstudio", "qwen"], &["aliyuncs.com"]),
    (Family::Anthropic, &["anthropic", "claude"], &["anthropic.com"]),
    (Family::Bedrock, &["amazon-bedrock", "aws-bedrock", "bedrock"], &["amazonaws.com"]),
    (Family::Cloudflare, &["cloudflare", "workers-ai"], &["cloudflare.com"]),
    (Family::Copilot, &["copilot", "github-copilot"], &["githubcopilot.com"]),
    (Family::Google, &["gemini", "google", "vertex"], &["googleapis.com"]),
    (Family::Kimi, &["kimi", "moonshot", "moonshotai"], &["kimi.com", "moonshot.ai", "moonshot.cn"]),
    (Family::Minimax, &["minimax"], &["minimax.chat", "minimax.io", "minimaxi.com"]),
    (Family::Ollama, &["ollama"], &["ollama.com"]),
    (Family::OpenAi, &["azure-openai", "chatgpt", "codex", "openai"], &["chatgpt.com", "openai.com", "openai.azure.com"]),
    (Family::OpenRouter, &["openrouter"], &["openrouter.ai"]),
    (Family::Together, &["together", "togetherai"], &["together.ai", "together.xyz"]),
    (Family::Volcengine, &["ark", "byteplus", "doubao", "volcengine"], &["bytepluses.com", "volces.com"]),
    (Family::Xai, &["grok", "xai", "x-ai"], &["x.ai"]),
    (Family::Zai, &["bigmodel", "glm", "z-ai", "z.ai", "zai", "zhipu", "zhipuai"], &["bigmodel.cn", "z.ai"]),
];

/// The family of a provider id, else of a host.
pub(crate) fn family(provider: Option<&str>, host: Option<&str>) -> Option<Family> {
    let by_id = provider.and_then(|id| {
        let id = id.trim().to_lowercase();
        let is = |name: &&str| {
            id.strip_prefix(name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        FAMILIES.iter().find(|(_, ids, _)| ids.iter().any(is))
    });
    let by_host = || {
        let host = host?.trim().to_lowercase();
        let host = host
            .split([':', '/'])
            .find(|part| part.contains('.'))
            .unwrap_or_default();
        let is = |name: &&str| is_or_below(host, name);
        FAMILIES.iter().find(|(_, _, hosts)| hosts.iter().any(is))
    };
    by_id.or_else(by_host).map(|(family, ..)| *family)
}

/// Whether the host is `name` or a part of its domain; both in lower case.
pub(crate) fn is_or_below(host: &str, name: &str) -> bool {
    host.strip_suffix(name)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}
