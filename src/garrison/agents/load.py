"""Find an agent by its name, its run folder or its checkpoint.

The agents in `shipped/` come with the package: what `garrison train record` and `garrison train record-head` left
behind, without the learner's state. `python -m garrison.agents.ship RUN FILE` makes such a file.
"""

from pathlib import Path

from garrison.agents.protocol import Agent
from garrison.agents.scripted import SCRIPTED
from garrison.errors import UserError

SHIPPED = {file.stem: file for file in sorted((Path(__file__).parent / "shipped").glob("*.garrison"))}


def load_agent(name: str, sample: bool = False) -> Agent:
    """Return the agent called `name`: scripted, shipped, or the network in a run folder or a checkpoint.

    Args:
        name: an agent's name or a path.
        sample: draw a network's actions instead of taking the likeliest.
    """
    if name in SCRIPTED:
        return SCRIPTED[name]()
    if name in SHIPPED or Path(name).exists():
        from garrison.agents.network_agent import NetworkAgent

        return NetworkAgent.load(SHIPPED.get(name, Path(name)), sample, name)
    from difflib import get_close_matches

    names = [*SCRIPTED, *SHIPPED]
    near = get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"give a run folder, a checkpoint or one of {', '.join(names)}."
    raise UserError(f"there is no agent, file or folder {name!r}; {hint}")
