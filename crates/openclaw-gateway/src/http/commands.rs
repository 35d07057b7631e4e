//! Commands that people type as the last message of a conversation, answered here instead of by a model (S-8, S-9, S-11).

mod perform;
mod replies;

use axum::response::Response;
use openclaw_config::CommandSetting;
use openclaw_ids::{AgentId, SessionKey};
use openclaw_runner::{Clock, SystemClock};
use openclaw_session::{Command, CommandError, parse_command};
use openclaw_wire::{RequestBody, SyntheticAnswer, WireFormat};
use serde_json::Value;

use super::RequestContext;
use super::error::ApiError;
use super::selection::Asked;
use super::synthetic_response::{Delivery, synthetic_response};
use crate::agents::Agent;
use perform::Session;

/// The session of a request that can be a command: it names one, and the setting is on.
pub(super) fn session_of<'a>(context: &RequestContext, asked: &'a Asked) -> Option<&'a SessionKey> {
    let setting = context.generation.config.failover.commands;
    asked.session.as_ref().filter(|_| setting == CommandSetting::On)
}

/// The name of a command of the session `key`, and its answer; `None` when the request is no command and is left to a model.
pub(super) async fn answer(
    context: &RequestContext,
    agent: &Agent,
    (id, key): (&AgentId, &SessionKey),
    wire: WireFormat,
    body: &RequestBody,
) -> Result<Option<(String, Response)>, ApiError> {
    let Some((name, command)) = command(wire, body.bytes()) else {
        return Ok(None);
    };
    let text = match command {
        Ok(command) => {
            let session = Session {
                context,
                agent,
                id,
                key,
            };
            session.perform(&command).await?
        }
        Err(error) => format!("⚠️ {error}"),
    };
    let now = SystemClock.now();
    let own = SyntheticAnswer {
        id: &context.process.ids.next_id(),
        model: body.model(),
        created: now.as_second(),
        text: &text,
    };
    let delivery = if body.wants_stream() {
        Delivery::Stream
    } else {
        Delivery::Whole
    };
    Ok(synthetic_response(&own, wire, delivery).map(|response| (name, response)))
}

/// The command that a request is, with its name.
fn command(wire: WireFormat, body: &[u8]) -> Option<(String, Result<Command, CommandError>)> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let text = wire.last_user_text(&body)?;
    let command = parse_command(text)?;
    let name = text.split_whitespace().next()?.to_lowercase();
    Some((name, command))
}
