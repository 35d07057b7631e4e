//! A rule of the shipped tables (classify.md C-1.3, C-3).

use openclaw_providers::Family;

use crate::{Certainty, Failure, Owner, Reason, RuleId, Scope, Transport};

/// One rule: its conditions, all of which must hold, and the verdict that it stands for.
#[derive(Debug)]
pub struct Rule {
    /// Stable id, which logs, errors and `explain` show.
    pub id: &'static str,
    /// The reason of the verdict.
    pub then: Reason,
    /// The certainty of the verdict.
    pub certainty: Certainty,
    /// A failure that this rule matches and no earlier one does.
    pub example: Example,
    /// Owner and scope, as far as they differ from those of the reason.
    pub(crate) attribution: Attribution,
    pub(crate) condition: Condition,
    /// Phrases none of which may occur.
    pub(crate) unless: &'static [&'static str],
    /// The providers that it applies to; empty for all.
    pub(crate) families: &'static [Family],
    /// Ranges of statuses that it applies to, both ends included, 0 for no status; empty for all.
    pub(crate) statuses: &'static [(u16, u16)],
}

/// The main condition of a rule.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Condition {
    /// None; the other conditions are enough.
    Any,
    /// One of these codes or types, in letters and digits only.
    Codes(&'static [&'static str]),
    /// Neither a text nor a code.
    Empty,
    /// One of these [phrases](crate::text::phrase).
    Phrases(&'static [&'static str]),
    /// One of these failures of the connection.
    Transports(&'static [Transport]),
}

/// Whose fault a failure is and what a cooldown applies to, as C-10 groups them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attribution {
    /// As the table of C-10 has it for the reason.
    Default,
    /// The whole account: a subscription, a usage window, an organization.
    Account,
    /// What this model or provider does not take of the request, which another one may take: nothing cools down.
    Capability,
    /// The caller caused it.
    Caller,
    /// This model of the account alone; other models of the credential work.
    Model,
    /// The request did not reach the provider.
    Network,
    /// This process or machine.
    Us,
}

/// A failure that a rule is for.
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

/// Only a failure of the connection.
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
    /// An explicit rule with the default attribution.
    pub(crate) const fn new(id: &'static str, then: Reason, condition: Condition, example: Example) -> Self {
        Self {
            id,
            then,
            certainty: Certainty::Explicit,
            attribution: Attribution::Default,
            example,
            condition,
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
        Self::new(id, then, Condition::Codes(codes), example)
    }

    pub(crate) const fn phrases(
        id: &'static str,
        then: Reason,
        phrases: &'static [&'static str],
        example: Example,
    ) -> Self {
        Self::new(id, then, Condition::Phrases(phrases), example)
    }

    /// Limits the rule to these statuses.
    pub(crate) const fn at(mut self, statuses: &'static [(u16, u16)]) -> Self {
        self.statuses = statuses;
        self
    }

    /// Limits the rule to these providers.
    pub(crate) const fn by(mut self, families: &'static [Family]) -> Self {
        self.families = families;
        self
    }

    /// Excludes texts with one of these phrases.
    pub(crate) const fn unless(mut self, phrases: &'static [&'static str]) -> Self {
        self.unless = phrases;
        self
    }

    /// Sets an attribution other than that of the reason.
    pub(crate) const fn attributed_to(mut self, attribution: Attribution) -> Self {
        self.attribution = attribution;
        self
    }

    /// Marks a rule whose evidence is only a status or a catch-all code.
    pub(crate) const fn default_certainty(mut self) -> Self {
        self.certainty = Certainty::Default;
        self
    }

    /// The id as verdicts have it.
    pub fn rule_id(&self) -> RuleId {
        RuleId::from_static(self.id)
    }

    /// Whose fault the failure is (C-10).
    pub fn owner(&self) -> Owner {
        self.owner_and_scope().0
    }

    /// What a cooldown for the failure applies to (C-10).
    pub fn scope(&self) -> Scope {
        self.owner_and_scope().1
    }

    /// Owner and scope (C-10).
    pub(crate) fn owner_and_scope(&self) -> (Owner, Scope) {
        match self.attribution {
            Attribution::Default => default_owner_and_scope(self.then),
            Attribution::Account => (Owner::Credential, Scope::Profile),
            Attribution::Caller => (Owner::Caller, Scope::None),
            Attribution::Capability => (Owner::Model, Scope::None),
            Attribution::Model => (default_owner_and_scope(self.then).0, Scope::Model),
            Attribution::Network => (Owner::Network, Scope::Endpoint),
            Attribution::Us => (Owner::Us, Scope::None),
        }
    }
}

/// Owner and scope by reason: the table of C-10.
pub(crate) fn default_owner_and_scope(reason: Reason) -> (Owner, Scope) {
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
