"""PureJaxRL's `ppo.py` with the settings of its own main program, and our name in the place of CartPole's."""

import ast
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import gymnax
import jax
import numpy as np
import ppo

from garrison.jaxsim import Cage2
from tests.jax_clients.reporting import report

NAME = "CAGE2-v0"
LENGTH = 30
make_ours = partial(Cage2, length=LENGTH)

if hasattr(gymnax, "register"):
    gymnax.register(NAME, make_ours)
else:  # Gymnax 0.x makes only its own

    def make(name: str) -> tuple[Any, Any]:
        assert name == NAME
        env = make_ours()
        return env, env.default_params

    gymnax.make = make


def settings() -> dict[str, Any]:
    """Return the settings in ppo.py's `if __name__ == "__main__"`."""
    for node in ast.walk(ast.parse(Path(ppo.__file__).read_text())):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "config":
            found: dict[str, Any] = ast.literal_eval(node.value)
            return found
    raise LookupError("ppo.py has no settings")


config = settings() | {"ENV_NAME": NAME, "DEBUG": False}  # which would print every episode
metrics = jax.jit(ppo.make_train(config))(jax.random.PRNGKey(30))["metrics"]
ended = np.asarray(metrics["returned_episode"])
returns = np.asarray(metrics["returned_episode_returns"])
tenth = len(ended) // 10
first, last = (float(returns[part][ended[part]].mean()) for part in (slice(tenth), slice(-tenth, None)))
wrong = ""
if not last > first / 3:  # returns are negative
    wrong = "it did not learn"
if not np.allclose(returns[ended], np.asarray(metrics["episode_return"])[ended], atol=1e-3):
    wrong = "its wrapper and our info disagree about returns"
if set(np.asarray(metrics["returned_episode_lengths"])[ended].tolist()) != {LENGTH}:
    wrong = "episodes have other lengths"
folder = str(Path(ppo.__file__).parent)
commit = subprocess.run(
    ["git", "-C", folder, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
)
report(
    "PureJaxRL",
    f"commit {commit.stdout.strip()}",
    f"{ended.size:,} steps of `ppo.py` with its own settings, episodes of {LENGTH} steps",
    [first, last],
    wrong,
)
