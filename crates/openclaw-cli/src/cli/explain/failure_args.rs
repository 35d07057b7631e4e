//! A failure as options of the command line, to be explained.

use clap::Args;
use openclaw_classify::{Failure, Header, TimeoutPhase, TimerOwner, Transport};
use openclaw_ids::ProviderId;

use crate::outcome::CommandError;

/// The facts of a failure.
#[derive(Debug, Args)]
#[group(id = "Failure", multiple = true)]
#[command(next_help_heading = "A failure")]
pub(super) struct FailureArgs {
    /// The model that failed [default: the first that would be asked]
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// The provider [default: the model's]
    #[arg(long, value_name = "ID")]
    provider: Option<String>,
    /// The HTTP status
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(100..=599))]
    status: Option<u16>,
    /// The structured code, such as `insufficient_quota`
    #[arg(long, value_name = "TEXT")]
    code: Option<String>,
    /// The structured type, such as `rate_limit_error`
    #[arg(long = "type", value_name = "TEXT")]
    kind: Option<String>,
    /// The message
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
    /// The body as it came
    #[arg(long, value_name = "TEXT")]
    body: Option<String>,
    /// A response header, such as 'retry-after: 30'; several
    #[arg(long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// What happened to the connection
    #[arg(long, value_name = "WHAT", value_parser = transport)]
    transport: Option<Transport>,
}

/// A failure to explain.
pub(super) struct FailureInput {
    /// The model whose calls fail like that.
    pub(super) model: Option<String>,
    /// The facts.
    pub(super) failure: Failure,
}

/// A header that is none.
#[derive(Debug, thiserror::Error)]
#[error("--header is written as 'name: value'")]
struct HeaderError;

impl FailureArgs {
    /// The failure, when any of its facts is given.
    ///
    /// # Errors
    /// When a fact cannot be read.
    pub(super) fn asked(&self) -> Result<Option<FailureInput>, CommandError> {
        let provider = self.provider.as_deref().map(ProviderId::try_new).transpose()?;
        let header = |text: &String| {
            let (name, value) = text.split_once(':').ok_or(HeaderError)?;
            Ok::<_, HeaderError>(Header {
                name: name.trim().to_owned(),
                value: value.trim().to_owned(),
            })
        };
        let failure = Failure {
            provider,
            status: self.status,
            code: self.code.clone(),
            kind: self.kind.clone(),
            message: self.message.clone(),
            body: self.body.as_ref().map(|body| body.clone().into_bytes()),
            headers: self.headers.iter().map(header).collect::<Result<_, _>>()?,
            transport: self.transport,
            ..Failure::default()
        };
        let is_given = self.model.is_some() || failure != Failure::default();
        Ok(is_given.then(|| FailureInput {
            model: self.model.clone(),
            failure,
        }))
    }
}

/// What can happen to a connection, by its name.
const TRANSPORTS: &[(&str, Transport)] = &[
    ("dns", Transport::Dns),
    ("proxy", Transport::Proxy),
    ("refused", Transport::Refused),
    ("reset", Transport::Reset),
    (
        "silent",
        Transport::Timeout(TimeoutPhase::FirstByte, TimerOwner::Us),
    ),
    ("stalled", Transport::Timeout(TimeoutPhase::Idle, TimerOwner::Us)),
    ("timeout", Transport::Timeout(TimeoutPhase::Total, TimerOwner::Us)),
    ("tls", Transport::Tls),
    ("unreachable", Transport::Unreachable),
];

/// Reads the name of what happened to a connection.
pub(super) fn transport(text: &str) -> Result<Transport, String> {
    let row = TRANSPORTS.iter().find(|(name, _)| *name == text);
    row.map(|(_, transport)| *transport).ok_or_else(|| {
        let names: Vec<&str> = TRANSPORTS.iter().map(|(name, _)| *name).collect();
        format!("write one of {}", names.join(", "))
    })
}
