//! What the wall tells people: its help, and a configuration to start from.

use std::fmt::Write as _;
use std::net::SocketAddr;

use crate::fault::FAULTS;

/// The list of faults and how to use them, below the options.
pub fn help() -> String {
    let mut text = "\
The name of the model is what happens:

"
    .to_owned();
    for row in FAULTS {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {:<22}{}", row.name, row.does);
    }
    text + "
`-once` after a name makes it happen to the first request of an upstream only, for example
`reset-before-head-once`.

Every path /<name>/v1 is an upstream of its own, with chat/completions, responses and messages;
where the model is no fault, the name of the upstream may be one. GET /seen tells what every
upstream saw. Answers repeat the last message when it is one short word, so that concurrent ones
can be told apart.

Examples:
  cargo xtask faultwall                              listen on 127.0.0.1:4100
  cargo xtask faultwall --config > wall.json5        a configuration to try failover with
  OPENCLAW_CONFIG_PATH=wall.json5 openclaw-gateway serve

  curl http://127.0.0.1:18789/v1/chat/completions -H 'content-type: application/json' \\
    -d '{\"model\": \"openclaw\", \"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]}' -D -

Change `primary` to any fault of the list, or set the base URL of a provider of your own
configuration to http://127.0.0.1:4100/status-503/v1, and watch what your clients see."
}

/// A configuration whose primary fails and whose fallback answers.
pub fn config(address: SocketAddr) -> String {
    format!(
        "// Failover to try: `openclaw` meets a primary that fails, `openclaw/cut` and `openclaw/limited` meet others. Every model of
// `wall` is a fault, so any can be asked for, as in `wall/silence`.
{{
  agents: {{
    defaults: {{ model: {{ primary: \"wall/status-503\", fallbacks: [\"wall-too/ok\"] }} }},
    list: [
      {{ id: \"main\", default: true }},
      {{ id: \"cut\", model: {{ primary: \"wall/cut-after-2\", fallbacks: [\"wall-too/ok\"] }} }},
      {{ id: \"limited\", model: {{ primary: \"wall/status-429-after-30\", fallbacks: [\"wall-too/ok\"] }} }},
    ],
  }},
  models: {{
    providers: {{
      wall: {{ baseUrl: \"http://{address}/primary/v1\", apiKey: \"one\" }},
      \"wall-too\": {{ baseUrl: \"http://{address}/fallback/v1\", apiKey: \"two\" }},
      // Speaks Anthropic's messages and OpenAI's responses, for /v1/messages and /v1/responses.
      \"wall-messages\": {{ baseUrl: \"http://{address}/messages/v1\", apiKey: \"three\", api: \"anthropic-messages\" }},
      \"wall-responses\": {{ baseUrl: \"http://{address}/responses/v1\", apiKey: \"four\", api: \"openai-responses\" }},
    }},
  }},
}}
"
    )
}
