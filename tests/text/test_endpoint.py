import json
import socket
from collections.abc import Sequence
from typing import Any

import pytest

from garrison.errors import UserError
from garrison.text.endpoint import Endpoint, EndpointError, Tokens
from tests.helpers.chat_server import called, chat_server, failed, one_after_the_other, said

ASKED = [{"role": "user", "content": "é →"}]
KEY = "sk-secret-123"


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def asked(answers: Sequence[Any], retries: int = 5, timeout: float = 30.0, **more: Any) -> tuple[Any, list[float], Any]:
    """What an endpoint returns if its server answers so, how long it paused, and the server."""
    pauses: list[float] = []
    with chat_server(one_after_the_other(answers)) as server:
        endpoint = Endpoint(server.url, "m", retries=retries, timeout=timeout, pause=pauses.append, **more)
        try:
            reply: Any = endpoint.ask(ASKED, more.get("tools"))
        except EndpointError as error:
            reply = error
    return reply, pauses, server


def test_an_answer_in_words() -> None:
    reply, pauses, server = asked([said("Sleep", reasoning_content="quiet")], body={"temperature": 0})
    assert (reply.text, reply.calls, reply.reasoning, reply.usage) == ("Sleep", [], "quiet", Tokens(100, 10, 1, 0))
    assert server.asked == [{"temperature": 0, "model": "m", "messages": ASKED}]
    assert server.paths == ["/v1/chat/completions"]
    assert "Authorization" not in server.headers[0]
    assert pauses == []


def test_an_answer_by_a_call_also_as_other_servers_write_it() -> None:
    reply, _, _ = asked([called({"action": "Sleep"})])
    assert json.loads(reply.calls[0]["function"]["arguments"]) == {"action": "Sleep"}
    message = {
        "content": [{"type": "text", "text": "well"}],
        "tool_calls": [{"function": {"name": "act", "arguments": {"action": "Sleep"}}}],
    }
    reply, _, _ = asked([{"choices": [{"message": message}]}])
    assert (reply.text, reply.usage) == ("well", Tokens(0, 0, 1, 0))
    assert reply.calls == [
        {"id": "call_0", "type": "function", "function": {"name": "act", "arguments": '{"action": "Sleep"}'}}
    ]


def test_the_key_goes_into_one_header_and_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    _, _, server = asked([said("Sleep")], key_env="MY_KEY")
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    error, _, _ = asked([failed(401, "wrong key")], key_env="MY_KEY")
    assert "wrong key" in str(error)
    assert "MY_KEY" in error.hint
    assert KEY not in str(error)
    assert KEY not in repr(Endpoint(server.url, "m", "MY_KEY"))
    monkeypatch.setenv("MY_KEY", f"{KEY}\nX: y")
    with pytest.raises(UserError) as refused:
        Endpoint(server.url, "m", "MY_KEY").ask(ASKED)
    assert KEY not in str(refused.value)


@pytest.mark.parametrize(
    "fault",
    [
        failed(429, "slow down"),
        failed(500),
        failed(503),
        (200, {}, b"{not json"),
        (200, {}, b""),
        (200, {}, b"[1]"),
        (200, {}, b"[" * 5000),
        {"choices": []},
        {"choices": [{"message": {"content": 5}}]},
        {"choices": [{"message": {"content": "", "tool_calls": [{"id": 1}]}}]},
        {"error": {"message": "overloaded"}},
        (200, {"Content-Length": "9999"}, b'{"choices"'),
        "drop",
    ],
    ids=str,
)
def test_what_may_pass_is_tried_again(fault: Any) -> None:
    reply, pauses, server = asked([fault, fault, said("Sleep")])
    assert reply.text == "Sleep"
    assert reply.usage.retries == 2
    assert len(pauses) == 2
    assert 0.5 <= pauses[0] <= 1.0 <= pauses[1] <= 2.0
    assert server.asked[0] == server.asked[2]


def test_a_slow_answer_is_given_up_and_tried_again() -> None:
    reply, pauses, _ = asked(["hang", said("Sleep")], timeout=0.3)
    assert reply.text == "Sleep"
    assert len(pauses) == 1


def test_how_long_to_wait_is_the_servers_to_say() -> None:
    assert asked([failed(429, Retry_After="7"), said("x")])[1] == [7.0]
    assert asked([failed(429, Retry_After="9999"), said("x")])[1] == [60.0]
    for odd in ("soon", "-1", "nan"):
        assert 0.5 <= asked([failed(429, Retry_After=odd), said("x")])[1][0] <= 1.0


def test_in_the_end_a_sentence() -> None:
    error, pauses, server = asked([failed(429, "slow down")], retries=2)
    assert str(error).startswith(f"{server.url}/chat/completions did not answer, after 3 tries: HTTP 429, slow down.")
    assert len(pauses) == 2
    assert len(server.asked) == 3
    assert "is no chat completion" in str(asked([(200, {}, b"<html>")], retries=0)[0])


@pytest.mark.parametrize(("status", "hint"), [(400, "--answer text"), (401, "OPENAI_API_KEY"), (404, "/v1"), (422, "")])
def test_what_does_not_pass_is_not_tried_again(status: int, hint: str) -> None:
    error, pauses, server = asked([failed(status, "no such\nmodel")])
    assert f"refuses: HTTP {status}, no such model." in str(error)
    assert hint in error.hint
    assert (len(pauses), len(server.asked)) == (0, 1)


def test_a_redirect_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with chat_server(one_after_the_other([said("stolen")])) as other:
        for status in (302, 303, 307):
            error, _, _ = asked([(status, {"Location": other.url}, b"")])
            assert f"HTTP {status}" in str(error)
        assert other.paths == []


def test_nobody_listens() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        with pytest.raises(EndpointError, match="refused"):
            Endpoint(url, "m", retries=1, pause=lambda seconds: None).ask(ASKED)


def test_half_characters_are_replaced() -> None:
    reply, _, _ = asked([(200, {}, b'{"choices": [{"message": {"content": "a\\ud800"}}]}')])
    assert reply.text.encode() == b"a?"


@pytest.mark.parametrize(
    "wrong",
    [
        {"url": "localhost:11434"},
        {"url": "file:///etc/passwd"},
        {"url": "http://"},
        {"url": "http://a b/v1"},
        {"url": "http://me:pass@host/v1"},
        {"url": "http://host:99999/v1"},
        {"model": ""},
        {"timeout": 0.0},
        {"timeout": float("nan")},
        {"retries": -1},
        {"body": {"messages": []}},
    ],
    ids=str,
)
def test_wrong_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UserError):
        Endpoint(**{"url": "http://localhost/v1", "model": "m", **wrong})


def test_the_address() -> None:
    for url in ("http://h/v1", "http://h/v1/", "http://h/v1/chat/completions"):
        assert Endpoint(url, "m").address == "http://h/v1/chat/completions"
