//! `explain`: what a failure means and what would follow from it, or what happened to a request.

mod failure;
mod failure_args;
mod lines;
mod request;

use clap::Args;
use openclaw_config::Environment;

use crate::files::{AgentArg, CommonArgs, Files};
use crate::outcome::{CommandError, Outcome};
use crate::terminal::screen::Screen;
use failure_args::FailureArgs;

/// Arguments of `explain`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ExplainArgs {
    /// A request, by the x-openclaw-request-id of its answer [default: the last one that met trouble]
    #[arg(value_name = "REQUEST_ID", conflicts_with_all = ["stdin", "Failure"])]
    request: Option<String>,
    /// Failures from standard input, one JSON object a line, or the lines of a JSON log
    #[arg(long, conflicts_with = "Failure")]
    stdin: bool,
    #[command(flatten)]
    failure: FailureArgs,
    #[command(flatten)]
    agent: AgentArg,
    #[command(flatten)]
    common: CommonArgs,
}

const EXAMPLES: &str = "\
A request is told from the history that the gateway keeps in the state directory. A failure is
judged by the rules, and a run of the agent is rehearsed in which its calls fail like that; nothing
is called and nothing is recorded.

Examples:
  openclaw-gateway explain                             Why the last troubled request went on
  openclaw-gateway explain oc-9f0c61d2a4b81e37-1       What happened to this request
  openclaw-gateway explain --status 429 --message 'Rate limit reached, try again in 7s'
  openclaw-gateway explain --provider openai --status 402 --code insufficient_quota
  openclaw-gateway explain --model anthropic/claude-sonnet-5 --status 529
  openclaw-gateway explain --stdin < failures.jsonl    Lines such as {\"status\": 429, \"body\": {}}
  openclaw-gateway explain --stdin < gateway.log       The runs in a log (OPENCLAW_LOG_FORMAT=json)

Exit status: 0 told, 1 there is nothing to tell, 2 it cannot tell.";

/// Explains what is asked about.
pub(super) fn run(
    environment: &Environment,
    arguments: &ExplainArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    let files = Files::open(&arguments.common.places, environment)?;
    let agent = arguments.agent.id(&files)?;
    if arguments.stdin {
        return lines::explain(&files, &agent, arguments.common.output, screen);
    }
    if let Some(asked) = arguments.failure.asked()? {
        return failure::explain(&files, &agent, &[asked], arguments.common.output, screen);
    }
    match &arguments.request {
        Some(id) => request::explain(&files, id, arguments.common.output, screen),
        None => request::explain_last(&files, &arguments.agent, arguments.common.output, screen),
    }
}
