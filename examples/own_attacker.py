"""Play Red yourself: sweep, scan, exploit and escalate from outside, against a sleeping Blue."""

import numpy as np

from garrison.cage2 import HOSTS, VectorEnv
from garrison.cage2.names import RED_ACTIONS, Access, RedKind, Subnet

envs = VectorEnv(8, red="external", length=50)
envs.reset(seed=0)
random = np.random.default_rng(0)
truth = envs.truth
for t in range(50):
    kinds = np.full(8, RedKind.SWEEP)
    targets = np.full(8, Subnet.USER)
    if t > 0:
        for i in range(8):
            targets[i] = random.choice(np.flatnonzero(truth.known_address[i]))
            held = truth.access[i, targets[i]]
            kinds[i] = RedKind.ESCALATE if held == Access.USER else random.choice([RedKind.SCAN, RedKind.EXPLOIT])
    envs.step({"blue": np.zeros(8, int), "red": np.stack([kinds, targets], axis=1)})
    if t % 10 == 0:
        print(f"{t:>2}  environment 0: {RED_ACTIONS[truth.red_kind[0]]}, holds", end=" ")
        print(", ".join(HOSTS[h] for h in np.flatnonzero(truth.sessions[0])))
