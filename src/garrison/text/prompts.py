"""What a model is told before the first turn, and the tool that it answers with: short, and with the names in use."""

import re
from pathlib import Path
from typing import Any

from garrison.cage2.layout import Record
from garrison.cage2.names import DECOYS, DEFAULT_RULES, HOSTS, Subnet
from garrison.cage2.scenario import load_scenario
from garrison.errors import UserError, choose
from garrison.text.action_words import KINDS
from garrison.text.renaming import Names

ANSWERS = ("tool", "text")
"""A tool call with the action as its arguments, or the action in words"""
DEFAULT_ANSWER = ANSWERS[0]
TOOL = "act"
WAY = (Subnet.USER, Subnet.ENTERPRISE, Subnet.OPERATIONAL)
"""The subnets in the order in which Red can reach them"""

_TEMPLATE = """\
You are Blue: you defend a network against an attacker, Red. Each turn you see what the monitoring found and choose \
one action; then Red acts.

{network}

{costs}

{observations}

{actions}

{answer}"""

_OBSERVATIONS = """\
Activity is what was seen on a host in this turn: None, Scan or Exploit. Not everything is seen. Compromised is what \
is believed of a host: No; User (an exploit was seen); Privileged (Analyse found malware); Unknown (after Remove)."""

_ACTIONS = """\
Actions:
Sleep - do nothing. Monitor - the same: the network is monitored in every turn anyway.
Analyse HOST - look for malware, which Red leaves on hosts that it takes.
Remove HOST - end Red's sessions that were seen and are not privileged.
Restore HOST - put the host back to a clean image: it ends every session, removes your decoys there, and has a cost.
{decoys} HOST - place a fake service: an exploit of it fails and is seen. A host refuses a decoy whose port is taken \
or whose system is another."""

_ANSWERS = {
    "tool": f"Answer with one call of the tool {TOOL}.",
    "text": "Answer with one line, the action alone, such as: Restore {example}",
}


def instructions(names: Names, rules: str = DEFAULT_RULES, answer: str = DEFAULT_ANSWER, template: str = "") -> str:
    """Return what a model is told before the first turn.

    Args:
        names: of hosts and subnets.
        rules: `head` or `leaderboard`.
        answer: `tool` or `text`.
        template: other words, in which `{network}`, `{costs}`, `{observations}`, `{actions}` and `{answer}` stand for
            the parts of ours.
    """
    scenario = load_scenario(None, rules)[0]
    parts = {
        "network": _network(scenario, names),
        "costs": _costs(scenario, names),
        "observations": _OBSERVATIONS,
        "actions": _ACTIONS.replace("{decoys}", ", ".join(DECOYS)),
        "answer": _ANSWERS[choose("answer", answer, ANSWERS)].replace("{example}", max(names.hosts)),
    }
    check_template(template, names)
    text = template or _TEMPLATE
    return re.sub(r"\{(\w+)\}", lambda found: parts.get(found[1], found[0]), text).strip()


def check_template(template: str, names: Names) -> None:
    """Raise if a user's words give away names that are not in use."""
    used = {*names.hosts, *names.subnets}
    for name in HOSTS if not names.are_original else ():
        if name not in used and re.search(rf"\b{name}\b", template):
            raise UserError(f"the prompt says {name}, but hosts are renamed: write {{network}} for the names in use.")


def read_template(path: Path) -> str:
    """Return a user's words."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is no text in UTF-8.") from error
    if not text.strip():
        raise UserError(f"{path} is empty.")
    return text


def tool(names: Names) -> dict[str, Any]:
    """Return the tool that a model calls, in OpenAI's form."""
    return {
        "type": "function",
        "function": {
            "name": TOOL,
            "description": "Play Blue's action of this turn.",
            "parameters": {
                "type": "object",
                "properties": {
                    "reason": {"type": "string", "description": "One short sentence."},
                    "action": {"type": "string", "enum": [*KINDS]},
                    "host": {
                        "type": "string",
                        "enum": sorted(names.hosts),
                        "description": "Its target; leave it out for Sleep and Monitor.",
                    },
                },
                "required": ["action"],
            },
        },
    }


def _network(sc: Record, names: Names) -> str:
    lines = [
        f"{names.subnets[subnet]}: {', '.join(names.hosts[h] for h in names.order if sc['subnet'][h] == subnet)}"
        for subnet in WAY
    ]
    way = " to ".join(names.subnets[subnet] for subnet in WAY)
    foothold, server = names.hosts[sc["foothold"]], names.hosts[sc["service_host"]]
    return "\n".join(
        [
            "Subnets and their hosts:",
            *lines,
            f"Red starts on {foothold}, where it cannot be removed, and works its way from {way}. It scans hosts, "
            f"exploits them, becomes privileged there, and wants to stop the service of {server}.",
        ]
    )


def _costs(sc: Record, names: Names) -> str:
    groups: dict[float, list[str]] = {}
    for h in names.order:
        groups.setdefault(round(float(sc["confidentiality"][h]), 3), []).append(names.hosts[h])
    hosts = "; ".join(f"{cost:g} for {', '.join(some)}" for cost, some in sorted(groups.items(), reverse=True) if cost)
    return (
        f"Each turn costs, for every host where Red is privileged: {hosts}. While the service of "
        f"{names.hosts[sc['service_host']]} is stopped, {float(sc['service_cost']):g} more. Each Restore costs "
        f"{float(sc['restore_cost']):g}. Keep the sum low."
    )
