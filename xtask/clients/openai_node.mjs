// Asks a running gateway through the official `openai` package, plainly and as streams.
//
// Usage: node openai_node.mjs http://127.0.0.1:18789 (beside node_modules with the package)
import OpenAI from "openai";

const TEXT = "token.0 token.1 token.2 token.3 token.4 ";

function check(what, holds, seen) {
  console.log(`${holds ? "ok  " : "FAIL"} ${what}: ${JSON.stringify(seen)}`);
  if (!holds) process.exit(1);
}

async function fails(what, Kind, ask) {
  let answer;
  try {
    answer = await ask();
  } catch (error) {
    if (!(error instanceof Kind)) throw error;
    check(what, true, [error.constructor.name, error.status ?? null, error.code ?? null]);
    return;
  }
  check(what, false, answer);
}

async function textOf(stream) {
  let text = "";
  for await (const chunk of stream) text += chunk.choices[0]?.delta?.content ?? "";
  return text;
}

const client = new OpenAI({ baseURL: `${process.argv[2]}/v1`, apiKey: "unused", maxRetries: 0 });
const messages = [{ role: "user", content: "Say something." }];

const models = [];
for await (const model of client.models.list()) models.push(model.id);
check("models", models.includes("openclaw"), models);

const { data, response } = await client.chat.completions.create({ model: "openclaw", messages }).withResponse();
const text = data.choices[0].message.content;
check("chat, plain, after a failure", text === TEXT, text);
const served = response.headers.get("x-openclaw-served-model");
check("who answered", served === "good/ok", served);

const streamed = await textOf(await client.chat.completions.create({ model: "openclaw", messages, stream: true }));
check("chat, streamed, after a failure", streamed === TEXT, streamed);
await fails("a cut chat is an error", OpenAI.APIError, async () =>
  textOf(await client.chat.completions.create({ model: "openclaw/cut", messages, stream: true })),
);
const spliced = await textOf(
  await client.chat.completions.create({ model: "openclaw/spliced", messages, stream: true }),
);
check("a cut chat that another one continues", spliced === TEXT, spliced);
await fails("a failing chain is a rate limit", OpenAI.RateLimitError, () =>
  client.chat.completions.create({ model: "openclaw/limited", messages }),
);

const answer = await client.responses.create({ model: "openclaw/responses", input: "Say something." });
check("responses, plain, after a failure", answer.output_text === TEXT, answer.output_text);
const final = await client.responses.stream({ model: "openclaw/responses", input: "Say something." }).finalResponse();
check("responses, streamed, after a failure", final.output_text === TEXT, final.output_text);
const continued = await client.responses
  .stream({ model: "openclaw/responses-spliced", input: "Say something." })
  .finalResponse();
check("a cut response that another one continues", continued.output_text === TEXT, continued.output_text);
