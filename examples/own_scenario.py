"""Change a number of the scenario: copy the file, edit it, pass its path. Nothing is compiled again."""

import tempfile
from pathlib import Path

import numpy as np

from garrison.cage2 import VectorEnv
from garrison.cage2.scenario import DEFAULT_FILE

text = DEFAULT_FILE.read_text()
with tempfile.TemporaryDirectory() as folder:
    mine = Path(folder) / "mine.toml"
    mine.write_text(text.replace("reverse_shell_detection = 0.95", "reverse_shell_detection = 0.50"))
    for name, scenario in (("as published", None), ("half of the shells unseen", mine)):
        envs = VectorEnv(2000, red="meander", length=50, scenario=scenario)
        obs, _ = envs.reset(seed=0)
        for _ in range(50):
            bits = obs.reshape(2000, 13, 4)
            hit = bits[:, :, 2:].any(axis=2)
            restore_the_first = np.where(hit.any(axis=1), 132 + hit.argmax(axis=1), 0)
            obs, *_, infos = envs.step(restore_the_first)
        print(f"{name:<26} {infos['episode_stats']['r'].mean():.1f}")
