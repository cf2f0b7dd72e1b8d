"""One turn with a model: it is shown the turn and answers until it names an action, or its chances are used up."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from garrison.errors import UserError
from garrison.text.action_words import ActionRefused, read_action
from garrison.text.endpoint import Endpoint, Reply, Tokens
from garrison.text.notebook import action_name
from garrison.text.prompts import DEFAULT_ANSWER, instructions, tool
from garrison.text.renaming import Names

DEFAULT_CHANCES = 3
DEFAULT_FALLBACK = "Sleep"
MOST_CHANCES = 100
_THOUGHT = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)  # as some servers leave it in the answer


@dataclass(frozen=True)
class ModelChoice:
    """What a model chose for one turn."""

    action: int
    name: str
    """The action by its name, with the hosts' names in use"""
    said: str
    """Its words: what it answered beside the action, and its reason"""
    refusals: tuple[str, ...]
    """Why earlier answers of this turn were refused"""
    fell_back: bool
    """Whether no answer was accepted, and the fallback is played"""
    messages: list[dict[str, Any]] = field(repr=False)
    """The conversation of this turn, without the instructions"""
    usage: Tokens


@dataclass(frozen=True)
class Dialogue:
    """How a model is asked."""

    endpoint: Endpoint
    names: Names
    rules: str
    answer: str = DEFAULT_ANSWER
    """`tool`: by a call of a tool; `text`: by the action alone"""
    chances: int = DEFAULT_CHANCES
    """Answers that a model has for a turn: one that is refused gets the reason back"""
    fallback: str = DEFAULT_FALLBACK
    """What is played, and counted, if all of them are refused"""
    template: str = ""
    """Other instructions, see `garrison.text.instructions`"""
    system: str = field(init=False, repr=False)
    """The instructions"""

    def __post_init__(self) -> None:
        if not 1 <= self.chances <= MOST_CHANCES:
            raise UserError(f"a model needs from 1 to {MOST_CHANCES} chances for a turn; got {self.chances}.")
        read_action(self.fallback, self.names)
        object.__setattr__(self, "system", instructions(self.names, self.rules, self.answer, self.template))

    @property
    def tools(self) -> list[dict[str, Any]] | None:
        """What the model can call."""
        return [tool(self.names)] if self.answer == "tool" else None

    def decide(self, observation: str) -> ModelChoice:
        """Ask for the action of a turn."""
        messages: list[dict[str, Any]] = [{"role": "user", "content": observation}]
        usage, refusals, said = Tokens(), [], ""
        for _ in range(self.chances):
            reply = self.endpoint.ask([{"role": "system", "content": self.system}, *messages], self.tools)
            usage = usage.plus(reply.usage)
            messages.append(_spoken(reply))
            said = words_of(reply)
            try:
                action = read_reply(reply, self.names)
            except ActionRefused as refusal:
                refusals.append(str(refusal))
                messages += _answers(reply, str(refusal))
                continue
            return ModelChoice(action, action_name(action, self.names), said, tuple(refusals), False, messages, usage)
        action = read_action(self.fallback, self.names)
        return ModelChoice(action, action_name(action, self.names), said, tuple(refusals), True, messages, usage)


def read_reply(reply: Reply, names: Names) -> int:
    """Return the action of an answer: of its one tool call, or of its text if there is no call."""
    if len(reply.calls) > 1:
        wanted = {_action_or_none(call, names) for call in reply.calls}
        if len(wanted) != 1 or None in wanted:
            raise ActionRefused(f"one action is wanted; there are {len(reply.calls)} calls.")
    if reply.calls:
        return read_action(reply.calls[0]["function"], names)
    text = _THOUGHT.sub("", reply.text).strip()
    if not text:
        raise ActionRefused("the answer is empty: name an action.")
    return read_action(text, names)


def _action_or_none(call: dict[str, Any], names: Names) -> int | None:
    try:
        return read_action(call["function"], names)
    except ActionRefused:
        return None


def words_of(reply: Reply) -> str:
    """Return what a model says about its choice: its text, or the reason among a call's arguments."""
    parts = [reply.reasoning.strip(), reply.text.strip()]
    for call in reply.calls:
        try:
            arguments = json.loads(call["function"]["arguments"])
        except (ValueError, RecursionError):
            continue
        reason = arguments.get("reason") if isinstance(arguments, dict) else None
        parts.append(reason.strip() if isinstance(reason, str) else "")
    return "\n\n".join(part for part in parts if part)


def _spoken(reply: Reply) -> dict[str, Any]:
    return {"role": "assistant", "content": reply.text, **({"tool_calls": reply.calls} if reply.calls else {})}


def _answers(reply: Reply, refusal: str) -> list[dict[str, Any]]:
    """Return the refusal as what the interface asks for after an answer: one message for each call, or the user's."""
    content = f"Refused: {refusal} Nothing was played: choose again."
    if not reply.calls:
        return [{"role": "user", "content": content}]
    return [{"role": "tool", "tool_call_id": call["id"], "content": content} for call in reply.calls]


def note(refusals: Sequence[str], fell_back: bool, said: str, action: str) -> str:
    """Return a turn as people read it: what was refused, what the model said, what was played."""
    refused = [f"Refused: {why}" for why in refusals]
    last = ["No answer was accepted: the fallback was played."] if fell_back else []
    return "\n\n".join([*refused, *last, said or "(no words)", f"→ {action}"])
