"""Opponents by name, with their shares."""

import pytest

from garrison.agents.shares import parse_shares
from garrison.errors import UserError


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("a", {"a": 1.0}),
        ("a, b ,", {"a": 0.5, "b": 0.5}),
        ("a:0.25,runs/b-1:0.75", {"a": 0.25, "runs/b-1": 0.75}),
        ("m:Red", {"m:Red": 1.0}),
        ("m:Red,a", {"m:Red": 0.5, "a": 0.5}),
        ("m:Red:1", {"m:Red": 1.0}),
        ("a:1e-1,b:0.9", {"a": 0.1, "b": 0.9}),
    ],
)
def test_shares_are_read(text: str, shares: dict[str, float]) -> None:
    assert parse_shares("red", text) == shares


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "red must be names"),
        ("a,a", "each once"),
        ("a:0.5,b", "needs odds"),
        ("a:0.5,b:0.6", "sum to 1"),
        ("a:nan,b:0.5", "sum to 1"),
        ("a:-1,b:2", "0 or more"),
    ],
)
def test_wrong_shares_are_a_sentence(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        parse_shares("red", text)
