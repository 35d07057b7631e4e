"""Asks a running gateway through the official `openai` package: plain, streamed, listed, and a chain that fails.

Usage: python openai_python.py http://127.0.0.1:18789/v1
"""

import sys

import openai


def check(what: str, holds: bool, seen: object) -> None:
    print(f"{'ok  ' if holds else 'FAIL'} {what}: {seen!r}")
    if not holds:
        sys.exit(1)


def main(base_url: str) -> None:
    client = openai.OpenAI(base_url=base_url, api_key="unused", max_retries=0)
    messages = [{"role": "user", "content": "Say hello."}]

    models = [model.id for model in client.models.list()]
    check("models", "openclaw" in models, models)

    raw = client.chat.completions.with_raw_response.create(model="openclaw", messages=messages)
    text = raw.parse().choices[0].message.content
    check("plain answer", bool(text), text)
    served = raw.headers.get("x-openclaw-served-model")
    check("who answered", bool(served), served)

    stream = client.chat.completions.create(model="openclaw", messages=messages, stream=True)
    pieces = [chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices]
    check("streamed answer", len(pieces) > 1 and bool("".join(pieces)), "".join(pieces))

    try:
        client.chat.completions.create(model="openclaw/doomed", messages=messages)
    except openai.APIStatusError as error:
        attempts = error.body.get("attempts") if isinstance(error.body, dict) else None
        check("a failing chain is an API error with its attempts", bool(attempts), (error.status_code, attempts))
    else:
        check("a failing chain is an API error", False, "it answered")


if __name__ == "__main__":
    main(sys.argv[1])
