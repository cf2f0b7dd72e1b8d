"""Scripts for the loopback's chat endpoint that play as models would, each turn by itself."""

import hashlib
import json
from random import Random
from typing import Any

from garrison.cage2.names import DECOYS
from tests.helpers.chat_server import called


def turn_key(asked: dict[str, Any]) -> str:
    """What was asked, whatever was asked before: answers must not depend on the order of episodes."""
    return hashlib.sha256(json.dumps(asked["messages"]).encode()).hexdigest()


def thoughtful(asked: dict[str, Any]) -> dict[str, Any]:
    """Answer by a valid call that depends on the conversation alone, with a reason that looks like markup."""
    random = Random(turn_key(asked))
    hosts = asked["tools"][0]["function"]["parameters"]["properties"]["host"]["enum"]
    action, host = random.choice(["Restore", "Remove", "Analyse", *DECOYS]), random.choice(hosts)
    return called({"action": action, "host": host, "reason": f"<b>{host}</b> is at risk"})


def careless(asked: dict[str, Any]) -> dict[str, Any]:
    """Answer as `thoughtful`, but name no action in a quarter of the answers."""
    if Random(turn_key(asked) + "careless").random() < 0.25:
        return called({"action": "Isolate", "host": "User1"})
    return thoughtful(asked)
