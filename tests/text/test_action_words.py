import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from garrison.cage2.names import ACTIONS
from garrison.text.action_words import ActionRefused, read_action
from garrison.text.notebook import action_name
from garrison.text.renaming import names_of

ACCEPTED = {
    "restore user1": "Restore User1",
    "RESTORE-USER1": "Restore User1",
    "Restore(hostname='User1')": "Restore User1",
    "Restore(hostname='User1', session=0, agent='Blue')": "Restore User1",
    "Restore host:User1": "Restore User1",
    "remove user 1": "Remove User1",
    "restroe usr1": "Restore User1",
    "analyze defnder": "Analyse Defender",
    "Restore OpServer": "Restore Op_Server0",
    "restore op server 0": "Restore Op_Server0",
    "DecoyApache on enterprise0": "DecoyApache Enterprise0",
    "I will deploy a decoy service Tomcat on User3": "DecoyTomcat User3",
    "DecoyHarakaSMTP User1": "DecoyHarakaSMPT User1",
    "sshd op_host1": "DecoySSHD Op_Host1",
    "Monitor.": "Monitor",
    "Thought: User2 looks odd, Restore is dear.\nAction: Analyse User2": "Analyse User2",
    "Final action:\nSleep": "Sleep",
    "**Action:** `Restore Op_Server0`": "Restore Op_Server0",
    "```\nRestore User4\n```": "Restore User4",
    '{"action": "Restore", "host": "User1", "reason": "User2 is only scanned"}': "Restore User1",
    'Here it is:\n```json\n{"action": "sleep"}\n```': "Sleep",
    '{"action": "Remove User3"}': "Remove User3",
    '{"name": "act", "arguments": "{\\"action\\": \\"Remove\\", \\"host\\": \\"User3\\"}"}': "Remove User3",
    '{"function": {"name": "Restore", "arguments": {"hostname": "User3"}}}': "Restore User3",
}

REFUSED = {
    "": "names no action",
    "132": "names no action",
    "User1": "names a host and no action",
    "isolate User1": "names no action that is known",
    "restore": "Restore needs a host",
    "restore User7": "names no host that is known.*Did you mean User0, User1 or User2",
    "restore Op_Server1": "names no host that is known.*Did you mean Op_Server0",
    "restore op_host": "Did you mean Op_Host0, Op_Host1 or Op_Host2",
    "restore the server": "needs a host",
    "restore 1": "names no host that is known",
    "do not restore User1": "more in it than an action: 'do' and 'not'",
    "Restore User1 unless User2 is worse": "names User1 and User2",
    "Restore or Remove User1": "names Restore and Remove",
    "Monitor User1": "Monitor takes no host.*Did you mean Monitor or Analyse User1",
    '{"action": "Restore", "host": "User9"}': "no host that is known",
    '{"action": "Restore User1", "host": "User2"}': "names User1 and User2",
    '{"host": "User2"}': "names an action as",
    '{"action": "Sleep"} {"action": "Monitor"}': "2 JSON objects",
    '{"name": "act", "arguments": "{bad"}': "no JSON",
    "I restore User1 because " + "it is so " * 20: "has 64 words; write the action alone",
    "x" * 30_000: "30,000 characters",
}


@pytest.mark.parametrize("said", ACCEPTED)
def test_what_can_only_mean_one_action_is_that_action(said: str) -> None:
    assert ACTIONS[read_action(said)].name == ACCEPTED[said]


@pytest.mark.parametrize("said", REFUSED)
def test_what_is_not_clear_is_refused_with_a_sentence(said: str) -> None:
    with pytest.raises(ActionRefused, match=REFUSED[said]):
        read_action(said)


@pytest.mark.parametrize("rename", ["", "neutral", "neutral:5", "roles", "shuffled:3"])
def test_every_action_is_read_from_its_name_in_every_scheme(rename: str) -> None:
    names = names_of(rename)
    for action in range(145):
        name = action_name(action, names)
        kind, _, host = name.partition(" ")
        assert read_action(name, names) == action
        assert read_action(name.lower().replace("-", " ").replace("_", ""), names) == action
        call: dict[str, Any] = {"action": kind, "host": host} if host else {"action": kind}
        assert read_action(call, names) == action


def test_names_that_are_not_in_use_are_refused() -> None:
    with pytest.raises(ActionRefused, match="no host that is known; there are host-01"):
        read_action("restore User1", names_of("neutral"))
    assert read_action("restore host-1", names_of("neutral")) == 132
    with pytest.raises(ActionRefused):
        read_action("restore host-14", names_of("neutral"))


def test_a_slip_between_two_names_is_refused() -> None:
    names = names_of({"hosts": {"User0": "alice", "User1": "alicia"}})
    assert read_action("restore alice", names) == 140
    with pytest.raises(ActionRefused, match="Did you mean alice or alicia"):
        read_action("restore alic", names)


@pytest.mark.parametrize("said", [None, 3, ["Sleep"], b"Sleep"])
def test_what_is_no_text_is_refused(said: Any) -> None:
    with pytest.raises(ActionRefused, match="an action is text or a JSON object"):
        read_action(said)


def test_a_refusal_can_be_shown_anywhere() -> None:
    with pytest.raises(ActionRefused) as refused:
        read_action("rêstore\nUser1 \x1b[31m\udcff")
    assert str(refused.value).isascii()
    assert "\x1b" not in str(refused.value)


WORDS = st.sampled_from(
    [
        "restore",
        "Sleep",
        "decoy",
        "Apache",
        "user",
        "1",
        "Op_Server0",
        "host",
        "{",
        "}",
        '"action":',
        "Action:",
        "```",
        "not",
        "\n",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | WORDS,
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from(["action", "host", "function", "arguments", "x"]), inner)
    ),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(st.text() | st.lists(WORDS).map(" ".join) | VALUES | VALUES.map(json.dumps))
@example("restore " + "9" * 5000)
@example("restore user" + "0" * 5000 + "1")
@example('{"action": ' * 3000)
@example("[" * 10_000)
@example("\n" * 19_000)
@example("action" * 3000)
def test_whatever_is_said_it_is_an_action_or_refused(said: Any) -> None:
    try:
        number, refusal = read_action(said), ""
    except ActionRefused as refused:
        number, refusal = 0, str(refused)
    assert 0 <= number < 145
    assert refusal.isascii()
    assert len(refusal) < 800
