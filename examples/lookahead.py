"""Choose by looking ahead: clone the environment, try every action in its own future, keep the best.

Not a challenge entry: it peeks at the true state through `clone`. It shows what a simulator that copies is good for.
"""

import numpy as np

from garrison.cage2 import ACTIONS, VectorEnv

WIDTH, DEPTH = 20, 12  # futures of each action, and how far they go

envs = VectorEnv(1, red="bline", length=30)
envs.reset(seed=1)
total = 0.0
for t in range(30):
    futures = envs.clone([0], repeat=len(ACTIONS) * WIDTH)
    state = futures.get_state()
    # New random streams: a look-ahead must not know the dice of the present.
    state["stream"] = np.random.default_rng(t).integers(1, 2**32, state["stream"].shape, dtype=np.uint32)
    futures.set_state(state)
    actions = np.repeat(np.arange(len(ACTIONS)), WIDTH)
    returns = np.zeros(len(actions))
    for _ in range(min(DEPTH, 30 - t)):
        returns += futures.step(actions)[1]
        actions = np.zeros_like(actions)
    best = int(returns.reshape(len(ACTIONS), WIDTH).mean(axis=1).argmax())
    reward = float(envs.step([best])[1][0])
    total += reward
    print(f"{t + 1:>2}  {ACTIONS[best].name:<28} {reward:6.1f}")
print(f"total {total:.1f}")
