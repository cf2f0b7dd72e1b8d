"""An action from what somebody wrote: its name, a call, a tool's arguments. What is not clear is refused, not guessed.

Spelling is forgiven where only one name can be meant: case, separators, `analyze`, a letter too few. Every word must be
part of the action or say nothing (`on`, `host`): who writes "do not restore User1" does not mean Restore.
"""

import json
import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from typing import Any

from garrison.cage2.names import ACTIONS, BLOCKS, FIRST_BLOCK, HOSTS, NUM_HOSTS
from garrison.errors import UserError
from garrison.text.renaming import Names, spelled

KINDS = ("Sleep", "Monitor", *BLOCKS)
"""Kinds of actions; all but the first two need a host"""
WITHOUT_HOST = KINDS[:FIRST_BLOCK]
LONGEST = 20_000
"""Characters that are read; more is no action"""
MOST_WORDS = 40
"""Of an action without a label or JSON: more is a story"""
NEAR = 0.75
"""How similar a misspelt name has to be"""
AHEAD = 0.1
"""By how much more similar than the next one"""
SHOWN = 3  # nearest names in a refusal
WORTH_NAMING = 0.6  # how similar these have to be

_FILLERS = {
    *("a", "an", "the", "this", "its", "my", "i", "we", "will", "is", "it", "please", "now"),
    *("at", "for", "of", "on", "to", "using", "with"),
    *("apply", "choose", "deploy", "execute", "place", "run", "use"),
    *("action", "agent", "decoy", "host", "hostname", "name", "node", "parameters", "server", "service", "target"),
}
"""Words that say nothing about which action is meant"""
_IN_CALL = re.compile(r"\b(session\s*[=:]\s*0|agent\s*[=:]\s*['\"]?blue['\"]?)", re.IGNORECASE)
_LABEL = re.compile(
    r"^[ \t>*#`_-]*(?:final\s+)?action[\s*_`]*:[\s*_`]*(?P<action>[^\s*_`].*)$", re.IGNORECASE | re.MULTILINE
)
_FENCE = re.compile(r"```[\w-]*\n?(.*?)```", re.DOTALL)
_MOST_PARTS = 4  # of one name: "op server 0"
_KIND_KEYS = ("action", "name", "tool", "function", "kind", "type")
_HOST_KEYS = ("host", "hostname", "target", "node")
_NESTED_KEYS = ("arguments", "args", "parameters", "input", "params")


class ActionRefused(UserError):
    """No action, or not one action alone; the sentence says why and names what is near."""

    def __init__(self, summary: str, nearest: Iterable[str] = ()) -> None:
        self.nearest = tuple(nearest)
        """What may have been meant"""
        hint = f"Did you mean {_either(self.nearest)}?" if self.nearest else ""
        super().__init__(summary, hint=hint)


def read_action(said: Any, names: Names | None = None) -> int:
    """Return the number, 0 to 144, of the action that was written; raise `ActionRefused` if none is clear.

    Args:
        said: text such as `restore user1`, `Restore(hostname='User1')`, `DecoyApache on enterprise0` or
            `Action: Sleep`; JSON such as `{"action": "Restore", "host": "User1"}`, as text or as a mapping; or a tool
            call of the OpenAI form.
        names: of hosts; by default the challenge's.

    >>> ACTIONS[read_action("restore user1")].name, ACTIONS[read_action('{"action": "Sleep"}')].name
    ('Restore User1', 'Sleep')
    """
    names = Names() if names is None else names
    if isinstance(said, dict):
        return _read_words(_words_of_call(said), names)
    if not isinstance(said, str):
        raise ActionRefused(f"an action is text or a JSON object; got {type(said).__name__}.")
    if len(said) > LONGEST:
        raise ActionRefused(f"an action is a few words; got {len(said):,} characters.")
    calls = _objects(said)
    if len(calls) > 1:
        raise ActionRefused(f"one action is wanted; there are {len(calls)} JSON objects.")
    if calls:
        return _read_words(_words_of_call(calls[0]), names)
    labelled = _LABEL.findall(said)
    return _read_words(labelled[-1] if labelled else said, names)


def _objects(text: str) -> list[dict[str, Any]]:
    """Return the JSON objects in a text that have a key of an action."""
    decoder, found, place = json.JSONDecoder(), [], text.find("{")
    while place >= 0:
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            if isinstance(value, dict) and set(value) & {*_KIND_KEYS, *_HOST_KEYS, *_NESTED_KEYS}:
                found.append(value)
        place = text.find("{", end)
    return found


def _words_of_call(call: dict[str, Any]) -> str:
    """Return a call as `kind host`; keys that are no part of an action, such as `reason`, are passed over."""
    inner: dict[str, Any] = {}
    for key in (*_NESTED_KEYS, "function"):
        value = call.get(key)
        if isinstance(value, str) and key != "function":
            try:
                value = json.loads(value or "{}")
            except (ValueError, RecursionError):
                raise ActionRefused(f"the call's {key} are no JSON: {_short(str(call[key]))}.") from None
        if isinstance(value, dict):
            if key == "function":
                return _words_of_call(value)
            inner |= value
    # A tool that is called `act` has the action among its arguments.
    kinds = [value for key in _KIND_KEYS if isinstance(value := inner.get(key), str)]
    kinds = kinds or [value for key in _KIND_KEYS if isinstance(value := call.get(key), str)]
    hosts = [value for key in _HOST_KEYS for where in (inner, call) if isinstance(value := where.get(key), str)]
    if not kinds:
        raise ActionRefused('a JSON object names an action as {"action": "Restore", "host": HOST}.')
    return " ".join([kinds[0], *dict.fromkeys(hosts)])


def _read_words(text: str, names: Names) -> int:
    fenced = _FENCE.findall(text)
    plain = _IN_CALL.sub(" ", fenced[0] if len(fenced) == 1 else text)
    words = re.findall(r"[^\W_]+", plain)
    if len(words) > MOST_WORDS:
        raise ActionRefused(
            f"{_short(text)} has {len(words)} words; write the action alone, such as Restore {max(names.hosts)}."
        )
    kinds, hosts, rest = _known(words, names)
    if not kinds:
        kinds, rest = _guess(rest, KIND_OF)
    needs_host = bool(kinds) and kinds[0] not in WITHOUT_HOST
    if not hosts and needs_host:
        hosts, rest = _guess(rest, {spelled(host): host for host in names.hosts})
    said = _short(text)
    if len(kinds) > 1 or len(hosts) > 1:
        raise ActionRefused(f"one action is wanted, but {said} names {_all(kinds if len(kinds) > 1 else hosts)}.")
    unknown = _meaning(rest)
    if not kinds:
        what = "names a host and no action" if hosts and not unknown else "names no action that is known"
        raise ActionRefused(f"{said} {what}; there are {', '.join(KINDS)}.", _nearest(rest, KINDS))
    if not hosts and needs_host and unknown:
        raise ActionRefused(
            f"{said} names no host that is known; there are {', '.join(sorted(names.hosts))}.",
            _nearest(rest, names.hosts),
        )
    if unknown:
        raise ActionRefused(
            f"{said} has more in it than an action: {_all(_short(word) for word in unknown[:SHOWN])}; write the action "
            f"alone, such as Restore {max(names.hosts)}."
        )
    return _number(kinds[0], hosts, said, names)


def _number(kind: str, hosts: Sequence[str], said: str, names: Names) -> int:
    if kind in WITHOUT_HOST:
        if hosts:
            raise ActionRefused(f"{kind} takes no host, but {said} names {hosts[0]}.", (kind, f"Analyse {hosts[0]}"))
        return KINDS.index(kind)
    if not hosts:
        raise ActionRefused(f"{kind} needs a host: one of {', '.join(sorted(names.hosts))}.")
    number = FIRST_BLOCK + (KINDS.index(kind) - FIRST_BLOCK) * NUM_HOSTS + names.hosts.index(hosts[0])
    assert ACTIONS[number].name == f"{kind} {HOSTS[names.hosts.index(hosts[0])]}"
    return number


def _known(words: list[str], names: Names) -> tuple[list[str], list[str], list[str]]:
    """Return kinds and hosts that are spelled as they should be, and the words that are part of neither."""
    host_of = {spelled(host): host for host in names.hosts}
    kinds: dict[str, None] = {}
    hosts: dict[str, None] = {}
    rest, place = [], 0
    while place < len(words):
        for count in range(min(_MOST_PARTS, len(words) - place), 0, -1):
            joined = spelled("".join(words[place : place + count]))
            if joined in KIND_OF or joined in host_of:
                (kinds if joined in KIND_OF else hosts)[KIND_OF.get(joined) or host_of[joined]] = None
                place += count
                break
        else:
            rest.append(words[place])
            place += 1
    return list(kinds), list(hosts), rest


def _meaning(words: list[str]) -> list[str]:
    """Return the words that say something."""
    return [word for word in words if word.lower() not in _FILLERS]


def _guess(words: list[str], name_of: dict[str, str]) -> tuple[list[str], list[str]]:
    """Return the one name that misspelt words can only mean, and the words that are left; nothing if there is none."""
    for count in range(min(_MOST_PARTS, len(words)), 0, -1):
        for place in range(len(words) - count + 1):
            some = words[place : place + count]
            if _meaning(some) and (found := _closest(spelled("".join(some)), name_of)) is not None:
                return [found], words[:place] + words[place + count :]
    return [], words


def _closest(word: str, name_of: dict[str, str]) -> str | None:
    """Return the name that a misspelt word means, if it is near to one and to no other."""
    letters, digits = re.sub(r"\d", "", word), re.findall(r"\d+", word)
    if len(letters) < 3:
        return None
    odds: dict[str, float] = {}
    for spelling, name in name_of.items():
        # Another number is another host, never a slip: there is no User7. Without a number, the rest must decide.
        if digits and re.findall(r"\d+", spelling) != digits:
            continue
        bare = spelling if digits else re.sub(r"\d", "", spelling)
        odds[name] = max(odds.get(name, 0.0), SequenceMatcher(None, word, bare, autojunk=False).ratio())
    ranked = sorted(odds.items(), key=lambda item: -item[1])
    if not ranked or ranked[0][1] < NEAR or (len(ranked) > 1 and ranked[1][1] > ranked[0][1] - AHEAD):
        return None
    return ranked[0][0]


def _nearest(words: Sequence[str], options: Sequence[str]) -> list[str]:
    """Return the names that unknown words are most like."""
    word = spelled("".join(words[:_MOST_PARTS]))
    likeness = {name: SequenceMatcher(None, word, spelled(name), autojunk=False).ratio() for name in options}
    return [
        name for name in sorted(options, key=lambda name: -likeness[name])[:SHOWN] if likeness[name] >= WORTH_NAMING
    ]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return ascii(line if len(line) <= 80 else f"{line[:77]}...")


def _all(parts: Iterable[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def _either(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} or {parts[-1]}" if len(parts) > 1 else parts[0]


KIND_OF = {
    **{spelled(kind): kind for kind in KINDS},
    **{spelled(kind.removeprefix("Decoy")): kind for kind in BLOCKS},
    "analyze": "Analyse",
}
"""Kinds by how they are spelled; a decoy also without the word"""
