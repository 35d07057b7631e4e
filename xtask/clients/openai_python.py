"""Asks a running gateway through the official `openai` package, plainly and as streams.

Usage: python openai_python.py http://127.0.0.1:18789
"""

import sys

import openai

TEXT = "token.0 token.1 token.2 token.3 token.4 "


def check(what: str, holds: bool, seen: object) -> None:
    print(f"{'ok  ' if holds else 'FAIL'} {what}: {seen!r}")
    if not holds:
        sys.exit(1)


def fails(what: str, kind: type, ask) -> None:
    try:
        answer = ask()
    except kind as error:
        body = error.body if isinstance(error.body, dict) else {}
        check(what, True, (type(error).__name__, getattr(error, "status_code", None), body.get("code")))
    else:
        check(what, False, answer)


def main(base_url: str) -> None:
    client = openai.OpenAI(base_url=f"{base_url}/v1", api_key="unused", max_retries=0)
    messages = [{"role": "user", "content": "Say something."}]

    models = [model.id for model in client.models.list()]
    check("models", "openclaw" in models, models)
    check("one model", client.models.retrieve("openclaw").id == "openclaw", "openclaw")

    raw = client.chat.completions.with_raw_response.create(model="openclaw", messages=messages)
    text = raw.parse().choices[0].message.content
    check("chat, plain, after a failure", text == TEXT, text)
    served = (raw.headers.get("x-openclaw-served-model"), raw.headers.get("x-openclaw-first-failure-reason"))
    check("who answered, and why", served == ("good/ok", "overloaded"), served)

    stream = client.chat.completions.create(model="openclaw", messages=messages, stream=True)
    pieces = [chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices]
    check("chat, streamed, after a failure", len(pieces) > 1 and "".join(pieces) == TEXT, "".join(pieces))

    def cut() -> str:
        stream = client.chat.completions.create(model="openclaw/cut", messages=messages, stream=True)
        return "".join(chunk.choices[0].delta.content or "" for chunk in stream)

    fails("a cut chat is an error", openai.APIError, cut)
    stream = client.chat.completions.create(model="openclaw/spliced", messages=messages, stream=True)
    pieces = [chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices]
    check("a cut chat that another one continues", "".join(pieces) == TEXT, "".join(pieces))
    fails(
        "a failing chain is a rate limit",
        openai.RateLimitError,
        lambda: client.chat.completions.create(model="openclaw/limited", messages=messages),
    )
    fails("an unknown model is not found", openai.NotFoundError, lambda: client.models.retrieve("none/none"))

    answer = client.responses.create(model="openclaw/responses", input="Say something.")
    check("responses, plain, after a failure", answer.output_text == TEXT, answer.output_text)
    with client.responses.stream(model="openclaw/responses", input="Say something.") as stream:
        pieces = [event.delta for event in stream if event.type == "response.output_text.delta"]
        final = stream.get_final_response().output_text
    check("responses, streamed, after a failure", "".join(pieces) == final == TEXT, final)
    with client.responses.stream(model="openclaw/responses-spliced", input="Say something.") as stream:
        pieces = [event.delta for event in stream if event.type == "response.output_text.delta"]
        final = stream.get_final_response().output_text
    check("a cut response that another one continues", "".join(pieces) == final == TEXT, final)
    stream = client.responses.create(model="openclaw/responses-cut", input="Say something.", stream=True)
    kinds = [event.type for event in stream]
    check("a cut response ends with an error event", kinds[-1] == "error" and "response.completed" not in kinds, kinds[-1])


if __name__ == "__main__":
    main(sys.argv[1])
