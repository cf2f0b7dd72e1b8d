"""Find an agent by its name, its run folder or its checkpoint."""

from pathlib import Path

from garrison.agents.protocol import Agent
from garrison.agents.scripted import SCRIPTED
from garrison.errors import UserError


def load_agent(name: str, sample: bool = False) -> Agent:
    """Return the agent called `name`: a scripted one, or the network in a run folder or a checkpoint.

    Args:
        name: a scripted agent's name or a path.
        sample: draw a network's actions instead of taking the likeliest.
    """
    if name in SCRIPTED:
        return SCRIPTED[name]()
    if Path(name).exists():
        from garrison.agents.network import NetworkAgent

        return NetworkAgent.load(Path(name), sample)
    from difflib import get_close_matches

    near = get_close_matches(name, SCRIPTED, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"give a run folder, a checkpoint or one of {', '.join(SCRIPTED)}."
    raise UserError(f"there is no agent, file or folder {name!r}; {hint}")
