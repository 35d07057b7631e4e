//! What comes by standard input, line by line: failures, or the records of a log.

use std::io::{self, Read};

use openclaw_classify::{Failure, Header};
use openclaw_history::explain::{Story, read, stories};
use openclaw_ids::{AgentId, ProviderId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::failure_args::{FailureInput, transport};
use crate::files::{Files, history::Names};
use crate::outcome::{CommandError, Outcome};
use crate::terminal::{OutputArgs, Render, Screen};

/// One failure as a line.
#[derive(Debug, Deserialize)]
struct Line {
    model: Option<String>,
    provider: Option<ProviderId>,
    host: Option<String>,
    status: Option<u16>,
    code: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    message: Option<String>,
    /// A text, or the JSON itself.
    body: Option<Value>,
    #[serde(default)]
    headers: Map<String, Value>,
    transport: Option<String>,
}

/// A line that is neither a failure nor one of a log.
#[derive(Debug, thiserror::Error)]
#[error(
    "line {line} is no failure; write objects of provider, model, status, code, type, message, body, headers and \
     transport, one a line, or give a log that was written under OPENCLAW_LOG_FORMAT=json"
)]
struct LineError {
    line: usize,
    #[source]
    source: serde_json::Error,
}

/// A line names something that does not happen to connections.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: `transport` is wrong; {hint}")]
struct TransportError {
    line: usize,
    hint: String,
}

/// Explains what comes.
pub(super) fn explain(
    files: &Files,
    agent: &AgentId,
    output: OutputArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let records = read(&text)?;
    if !records.is_empty() {
        let names = Names::of(files);
        let stories = stories(&records).into_iter();
        let shown = stories.map(|story| Ok::<_, CommandError>(ShownStory { story, names: &names }));
        screen.render_stream(shown, output)?;
        return Ok(Outcome::Fine);
    }
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    let asked: Vec<FailureInput> = lines
        .map(|(index, line)| failure(index + 1, line))
        .collect::<Result<_, _>>()?;
    if asked.is_empty() {
        // As JSON, nothing is no line.
        if !output.json {
            screen.line("Nothing came by standard input.")?;
        }
        return Ok(Outcome::Findings);
    }
    super::failure::explain(files, agent, &asked, output, screen)
}

/// A run of a log, and the names of what its text mentions.
struct ShownStory<'n> {
    story: Story,
    names: &'n Names,
}

impl Render for ShownStory<'_> {
    fn text(&self, screen: &mut Screen<'_>) -> io::Result<()> {
        screen.line(self.names.put_into(&self.story.to_string()).trim_end())
    }

    fn json(&self) -> impl Serialize {
        &self.story
    }
}

fn failure(number: usize, text: &str) -> Result<FailureInput, CommandError> {
    let line: Line = serde_json::from_str(text).map_err(|source| LineError { line: number, source })?;
    let transport = line.transport.as_deref().map(transport).transpose();
    let transport = transport.map_err(|hint| TransportError { line: number, hint })?;
    let header = |(name, value): (String, Value)| Header {
        name,
        value: plain(value),
    };
    Ok(FailureInput {
        model: line.model,
        failure: Failure {
            provider: line.provider,
            host: line.host,
            status: line.status,
            code: line.code,
            kind: line.kind,
            message: line.message,
            body: line.body.map(|body| plain(body).into_bytes()),
            headers: line.headers.into_iter().map(header).collect(),
            transport,
            ..Failure::default()
        },
    })
}

/// A text as it is, anything else as its JSON.
fn plain(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Array(_) | Value::Bool(_) | Value::Null | Value::Number(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}
