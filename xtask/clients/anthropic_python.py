"""Asks a running gateway through the official `anthropic` package, plainly and as streams.

Usage: python anthropic_python.py http://127.0.0.1:18789
"""

import sys

import anthropic

TEXT = "token.0 token.1 token.2 token.3 token.4 "


def check(what: str, holds: bool, seen: object) -> None:
    print(f"{'ok  ' if holds else 'FAIL'} {what}: {seen!r}")
    if not holds:
        sys.exit(1)


def fails(what: str, kind: type, ask) -> None:
    try:
        answer = ask()
    except kind as error:
        check(what, True, (type(error).__name__, str(error)[:120]))
    else:
        check(what, False, answer)


def main(base_url: str) -> None:
    client = anthropic.Anthropic(base_url=base_url, api_key="unused", max_retries=0)
    asked = {"max_tokens": 64, "messages": [{"role": "user", "content": "Say something."}]}

    raw = client.messages.with_raw_response.create(model="openclaw/messages", **asked)
    text = raw.parse().content[0].text
    check("messages, plain, after a failure", text == TEXT, text)
    served = (raw.headers.get("x-openclaw-served-model"), raw.headers.get("x-openclaw-first-failure-reason"))
    check("who answered, and why", served == ("good-messages/ok", "overloaded"), served)

    with client.messages.stream(model="openclaw/messages", **asked) as stream:
        pieces = list(stream.text_stream)
        final = stream.get_final_message()
    check("messages, streamed, after a failure", "".join(pieces) == final.content[0].text == TEXT, "".join(pieces))
    check("how it ended", final.stop_reason == "end_turn", final.stop_reason)

    def cut() -> str:
        with client.messages.stream(model="openclaw/messages-cut", **asked) as stream:
            return "".join(stream.text_stream)

    with client.messages.stream(model="openclaw/messages-spliced", **asked) as stream:
        final = stream.get_final_message()
    check("a cut message that another one continues", final.content[0].text == TEXT, final.content[0].text)
    fails("a cut message is an error", anthropic.APIError, cut)
    fails(
        "a failing chain is a rate limit",
        anthropic.RateLimitError,
        lambda: client.messages.create(model="openclaw/messages-limited", **asked),
    )
    fails(
        "an unknown agent is not found",
        anthropic.NotFoundError,
        lambda: client.messages.create(model="openclaw/nobody", **asked),
    )


if __name__ == "__main__":
    main(sys.argv[1])
