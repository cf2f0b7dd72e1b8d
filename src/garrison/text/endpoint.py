"""Any server with OpenAI's chat interface, asked over the standard library's HTTP: local ones and hosted ones alike.

What passes by itself is tried again: too many requests, errors of the server, a broken connection, an answer that is no
JSON. Everything else ends with a sentence. The key goes into one header and nowhere else.
"""

import json
import math
import os
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from email.message import Message
from http.client import HTTPException, HTTPMessage
from random import Random
from typing import IO, Any, NamedTuple
from urllib.parse import urlsplit

from garrison.errors import GarrisonError, UserError

PATH = "/chat/completions"
DEFAULT_TIMEOUT = 120.0
DEFAULT_RETRIES = 5
DEFAULT_KEY_ENV = "OPENAI_API_KEY"
LARGEST_ANSWER = 2**24
LONGEST_PAUSE = 60.0
PASSING = {408, 409, 425, 429}
"""Answers below 500 after which the same request may be answered"""


class EndpointError(GarrisonError):
    """The endpoint does not answer, or refuses to."""


class Tokens(NamedTuple):
    """Tokens of requests and their answers, as the endpoint counts them; zeros if it does not."""

    prompt: int = 0
    completion: int = 0
    requests: int = 0
    retries: int = 0
    """Requests that had to be sent again"""

    def plus(self, other: "Tokens") -> "Tokens":
        """Return both together."""
        return Tokens(*(a + b for a, b in zip(self, other, strict=True)))


class Reply(NamedTuple):
    """What a model answered."""

    text: str
    calls: list[dict[str, Any]]
    """Tool calls in OpenAI's form, each with an `id`"""
    reasoning: str
    """What a server tells of the model's thoughts, apart from the answer"""
    usage: Tokens


@dataclass(frozen=True)
class Endpoint:
    """Where a model answers."""

    url: str
    """Of the interface, such as http://localhost:11434/v1"""
    model: str
    key_env: str = DEFAULT_KEY_ENV
    """The environment variable with the key; without it requests have none, as local servers want it"""
    timeout: float = DEFAULT_TIMEOUT
    """Seconds for an answer"""
    retries: int = DEFAULT_RETRIES
    """How often a request is sent again after a failure that may pass"""
    body: dict[str, Any] = field(default_factory=dict)
    """What every request has besides, such as {"temperature": 0}"""
    pause: Callable[[float], None] = field(default=time.sleep, repr=False, compare=False)

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_address = False
        if not is_address or any(ord(letter) <= 32 or ord(letter) > 126 for letter in self.url):
            raise UserError(f"an endpoint is an address such as http://localhost:11434/v1; got {self.url!r}.")
        if parts.username is not None or parts.password is not None:
            raise UserError("the endpoint's address has a password in it: put the key into an environment variable.")
        if not self.model:
            raise UserError("name the model that the endpoint is to ask.")
        if not (math.isfinite(self.timeout) and 0 < self.timeout <= 86400):
            raise UserError(f"timeout is a number of seconds, up to a day; got {self.timeout}.")
        if not 0 <= self.retries <= 100:
            raise UserError(f"retries is a number from 0 to 100; got {self.retries}.")
        if reserved := {"messages", "model", "tools", "stream"} & set(self.body):
            raise UserError(f"the request's {min(reserved)!r} is ours to say: leave it out of the body.")

    @property
    def address(self) -> str:
        """Where requests go."""
        base = self.url.rstrip("/")
        return base if base.endswith(PATH) else base + PATH

    def ask(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None = None) -> Reply:
        """Send a conversation and return the answer; raise `EndpointError` if there is none."""
        body = {**self.body, "model": self.model, "messages": messages, **({"tools": tools} if tools else {})}
        data = json.dumps(body).encode()
        spread = Random(data)  # neither the clock nor the game's draws decide how long one waits
        for attempt in range(self.retries + 1):
            try:
                return _read(self._send(data), attempt)
            except _Passing as failure:
                if attempt == self.retries:
                    tries = f"after {attempt + 1} tries" if attempt else "and was to be asked once"
                    raise EndpointError(
                        f"{self.address} did not answer, {tries}: {failure}.",
                        hint="What was played is kept: the same command goes on from there.",
                    ) from failure
                wait = 2.0**attempt * spread.uniform(0.5, 1.0) if failure.wait is None else failure.wait
                self.pause(min(wait, LONGEST_PAUSE))
        raise AssertionError("unreachable")

    def _send(self, data: bytes) -> bytes:
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "garrison"}
        if key := os.environ.get(self.key_env, "").strip():
            if not (key.isascii() and key.isprintable()):  # http.client would say so, and the key with it
                raise UserError(f"the key in {self.key_env} has characters that no key has.")
            headers["Authorization"] = f"Bearer {key}"
        request = urllib.request.Request(self.address, data, headers, method="POST")
        try:
            with _opener().open(request, timeout=self.timeout) as answer:
                text: bytes = answer.read(LARGEST_ANSWER + 1)
        except urllib.error.HTTPError as error:
            with error:
                raise self._refusal(error) from None
        except TimeoutError:
            raise _Passing(f"nothing came for {self.timeout:g} seconds") from None
        except urllib.error.URLError as error:
            if isinstance(error.reason, socket.gaierror):
                raise EndpointError(f"there is no host {urlsplit(self.url).hostname!r}: check --endpoint.") from None
            raise _Passing(_said(error.reason)) from None
        except (HTTPException, OSError, ValueError) as error:
            raise _Passing(_said(error)) from None
        if len(text) > LARGEST_ANSWER:
            raise EndpointError(f"{self.address} answered with more than {LARGEST_ANSWER:,} bytes.")
        return text

    def _refusal(self, error: urllib.error.HTTPError) -> "EndpointError | _Passing":
        try:
            said = _message_of(error.read(2**16))
        except (HTTPException, OSError):
            said = ""
        what = f"HTTP {error.code}" + (f", {said}" if said else "")
        if error.code >= 500 or error.code in PASSING:
            return _Passing(what, _wait_of(error.headers))
        hints = {
            400: "A model without tools needs --answer text.",
            401: f"Put the key into the environment variable {self.key_env}, or name another with --key-env.",
            403: f"Put the key into the environment variable {self.key_env}, or name another with --key-env.",
            404: "The address ends before /chat/completions, mostly with /v1; the model must be one that is there.",
        }
        return EndpointError(f"{self.address} refuses: {what}.", hint=hints.get(error.code, ""))


class _Passing(Exception):
    """A failure after which the same request may be answered."""

    def __init__(self, what: str, wait: float | None = None) -> None:
        super().__init__(what.rstrip("."))
        self.wait = wait
        """Seconds, if the server says how many"""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Does not follow: the key is for the address that the user named."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        return None


def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_NoRedirects)


def _read(data: bytes, attempt: int) -> Reply:
    """Return the answer of a model; what is no such answer may be one the next time."""
    try:
        values = json.loads(data)
        message = values["choices"][0]["message"]
        text, calls, usage = message.get("content"), message.get("tool_calls") or [], values.get("usage") or {}
        reasoning = message.get("reasoning_content") or message.get("reasoning") or ""
        if isinstance(text, list):  # parts, as some servers write them
            text = "".join(part.get("text", "") for part in text)
        kept = [_call(k, call) for k, call in enumerate(calls)]
        prompt, completion = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
        if not isinstance(text, str | None) or not isinstance(reasoning, str):
            raise TypeError("the message is no text")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        said = _message_of(data) or f"{type(error).__name__}: {str(error)[:80]}"
        raise _Passing(f"its answer is no chat completion ({said})") from None
    return Reply(_clean(text or ""), kept, _clean(reasoning), Tokens(prompt, completion, 1, attempt))


def _call(number: int, call: dict[str, Any]) -> dict[str, Any]:
    function = call["function"]
    arguments = function.get("arguments")
    if not isinstance(arguments, str):  # some servers give them as an object
        arguments = json.dumps(arguments or {})
    name = function["name"]
    if not isinstance(name, str):
        raise TypeError("a tool call has no name")
    return {
        "id": _clean(str(call.get("id") or f"call_{number}")),
        "type": "function",
        "function": {"name": _clean(name), "arguments": _clean(arguments)},
    }


def _clean(text: str) -> str:
    """Return a text that can be written: JSON may hold halves of characters."""
    return text.encode("utf-8", "replace").decode()


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**40 else 0


def _message_of(data: bytes) -> str:
    """Return what a server says is wrong, in one line; servers differ in where they say it."""
    try:
        values = json.loads(data)
    except (ValueError, RecursionError):
        return ""
    error = values.get("error", values) if isinstance(values, dict) else None
    said = error.get("message") or error.get("detail") if isinstance(error, dict) else error
    return " ".join(said.split())[:200].rstrip(".") if isinstance(said, str) else ""


def _wait_of(headers: Message) -> float | None:
    try:
        wait = float(headers.get("Retry-After", ""))
    except ValueError:  # missing, or a date
        return None
    return wait if math.isfinite(wait) and wait >= 0 else None


def _said(error: Any) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
