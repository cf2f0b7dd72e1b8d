from typing import Any

import pytest

from garrison.errors import UserError
from garrison.text.dialogue import Dialogue, ModelChoice
from garrison.text.endpoint import Endpoint
from garrison.text.renaming import names_of
from tests.helpers.chat_server import ChatServer, called, chat_server, one_after_the_other, said


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")


def decided(answers: list[Any], rename: str = "", **settings: Any) -> tuple[ModelChoice, ChatServer]:
    with chat_server(one_after_the_other(answers)) as server:
        dialogue = Dialogue(Endpoint(server.url, "m"), names_of(rename), "head", **settings)
        return dialogue.decide("Turn 1."), server


def test_a_call_is_the_action() -> None:
    choice, server = decided(
        [called({"reason": "it was scanned", "action": "Restore", "host": "User1"}, content="Hm.")]
    )
    assert (choice.name, choice.refusals, choice.fell_back) == ("Restore User1", (), False)
    assert choice.said == "Hm.\n\nit was scanned"
    assert server.asked[0]["tools"][0]["function"]["name"] == "act"
    assert [message["role"] for message in server.asked[0]["messages"]] == ["system", "user"]


def test_words_are_the_action() -> None:
    choice, server = decided([said("<think>Restore User2?</think>Restore User1")], answer="text")
    assert choice.name == "Restore User1"
    assert "tools" not in server.asked[0]
    assert "the action alone" in server.asked[0]["messages"][0]["content"]


def test_a_refusal_goes_back_and_another_answer_counts() -> None:
    wrong = [called({"action": "Isolate", "host": "User1"}), said("I would rather not."), said("")]
    choice, server = decided([*wrong, called({"action": "Sleep"})], chances=4)
    assert (choice.name, len(choice.refusals), choice.fell_back) == ("Sleep", 3, False)
    assert choice.usage[:3] == (400, 40, 4)
    last = server.asked[-1]["messages"]
    assert [message["role"] for message in last] == [
        *("system", "user", "assistant", "tool", "assistant", "user", "assistant", "user"),
    ]
    assert last[3]["tool_call_id"] == last[2]["tool_calls"][0]["id"]
    assert last[3]["content"].startswith("Refused: 'Isolate User1' names no action that is known")


@pytest.mark.parametrize(
    "arguments",
    ["{not json", "[]", "{}", '{"action": "Restore"}', '{"action": 5}', '{"action": "Restore", "host": "User9"}'],
)
def test_wrong_arguments_are_refused_and_in_the_end_the_fallback_is_played(arguments: str) -> None:
    choice, server = decided([called(arguments)], chances=2, fallback="monitor")
    assert (choice.name, choice.fell_back, len(choice.refusals)) == ("Monitor", True, 2)
    assert len(server.asked) == 2


def test_two_calls_are_one_action_only_if_they_are_the_same() -> None:
    one, other = {"action": "Restore", "host": "User1"}, {"action": "Restore", "host": "User2"}
    assert decided([called(one, one)])[0].name == "Restore User1"
    choice, server = decided([called(one, other), called(other)])
    assert choice.name == "Restore User2"
    answers = [message for message in server.asked[1]["messages"] if message["role"] == "tool"]
    assert [message["tool_call_id"] for message in answers] == ["call_0", "call_1"]  # each call wants an answer


def test_renamed_hosts_are_the_only_ones() -> None:
    choice, server = decided(
        [called({"action": "Restore", "host": "User1"}), called({"action": "Restore", "host": "host-10"})], "neutral"
    )
    assert (choice.name, choice.action) == ("Restore host-10", 141)
    assert "User1" not in str(server.asked[0])
    assert "there are host-01" in choice.refusals[0]


@pytest.mark.parametrize(
    "wrong", [{"chances": 0}, {"fallback": "hide"}, {"answer": "song"}, {"template": "Op_Server0"}]
)
def test_wrong_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UserError):
        Dialogue(Endpoint("http://localhost", "m"), names_of("neutral"), "head", **wrong)


def test_words_of_a_user() -> None:
    dialogue = Dialogue(
        Endpoint("http://x", "m"), names_of("roles"), "head", template="Defend!\n{network}\n{x} {answer}\n"
    )
    assert dialogue.system.startswith("Defend!\nSubnets and their hosts:\noffice: desk-design-1")
    assert dialogue.system.endswith("{x} Answer with one call of the tool act.")
