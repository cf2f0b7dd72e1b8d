"""Find an agent by its name, its run folder or its checkpoint.

The agents in `shipped/` come with the package: what `garrison train record` and `garrison train record-head` left
behind, without the learner's state. `python -m garrison.agents.ship RUN FILE` makes such a file. Each also comes with a
search before every decision; how hard it searches stands behind an @: `record-search@50ms`.
"""

from pathlib import Path
from typing import Any

from garrison.agents.scripted import SCRIPTED
from garrison.agents.search_settings import DEFAULT_BUDGET, settings_of
from garrison.contract.importing import import_named
from garrison.errors import UserError
from garrison.registration import CAGE2
from garrison.storage import checkpoint
from garrison.storage.saved_run import require_agent

SHIPPED = {file.stem: file for file in sorted((Path(__file__).parent / "shipped").glob("*.garrison"))}
SEARCHING = {
    "record-search": "record",
    "record-search-head": "record-head",
    "record-belief-search": "record-belief",
    "record-belief-search-head": "record-belief-head",
}
"""Agents that search, and whose network they search with"""
GUARDED = {"record-belief": "record", "record-belief-head": "record-head"}
"""Shipped networks that read a belief, and which one takes over where that is wrong"""
VALUED = {"record-values": "record", "record-values-head": "record-head"}
"""Agents that act by the game's values, and which network chooses where these leave it open"""

ANY_ENVIRONMENT = "garrison.agents.spaces:SpaceAgent"
KINDS = {CAGE2: "garrison.agents.network_agent:NetworkAgent"}
"""Environments whose policies play by other observations and actions than they were trained on, and the class that
translates; any other policy plays as it was trained."""


def load_agent(name: str, sample: bool = False) -> Any:
    """Return the agent called `name`: scripted, shipped, or the network in a run folder or a checkpoint.

    It is an `Agent` of CAGE-2; that of a run on another environment acts on that environment's observations, see
    `garrison.agents.spaces`.

    Args:
        name: an agent's name or a path; `NAME@BUDGET` for one that searches, see `garrison.agents.search_settings`.
        sample: draw a network's actions instead of taking the likeliest.
    """
    if name in SCRIPTED:
        return SCRIPTED[name]()
    searching, _, budget = name.partition("@")
    if searching in SEARCHING:
        from garrison.agents.search_agent import SearchAgent

        return SearchAgent(load_agent(SEARCHING[searching], sample), settings_of(budget or DEFAULT_BUDGET), name)
    if name in VALUED:
        from garrison.agents.value_agent import ValueAgent

        return ValueAgent(load_agent(VALUED[name], sample), name=name)
    values = saved_agent(name)
    kind = import_named(KINDS.get(values["experiment"]["env"]["env"], ANY_ENVIRONMENT))
    require_agent(values, name, kind.needs)
    agent = kind.of(values, name, sample)
    if name not in GUARDED:
        return agent
    from garrison.agents.guarded_agent import GuardedAgent

    return GuardedAgent(agent, load_agent(GUARDED[name], sample))


def saved_agent(name: str) -> dict[str, Any]:
    """Return the values of the shipped agent, run folder or checkpoint called `name`, checked."""
    if name in SHIPPED or Path(name).exists():
        values = checkpoint.load(SHIPPED.get(name, Path(name)))
        require_agent(values, name)
        return values
    from difflib import get_close_matches

    names = [*SCRIPTED, *SHIPPED, *SEARCHING, *VALUED]
    near = get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"give a run folder, a checkpoint or one of {', '.join(names)}."
    raise UserError(f"there is no agent, file or folder {name!r}; {hint}")
