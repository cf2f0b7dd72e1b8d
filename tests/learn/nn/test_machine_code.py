"""Same seed, same bits: in the process that compiles the kernels, and in later ones, whatever they load first."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from garrison.jit import COMPILED

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
SCRIPT = """
import json, sys
from hashlib import sha256
import numpy as np
from gymnasium import spaces
from garrison.learn import PolicyConfig, PPOConfig, train
from garrison.learn.nn.compiled import NO_MASKS, CompiledNetwork
from garrison.learn.nn.loss import Terms
from garrison.learn.nn.passes import act
from garrison.learn.nn.sampling import make_streams
from garrison.learn.rollout import Rollout
from tests.helpers.bits_env import BitsEnv
from tests.helpers.learning import random_batch, random_policy

def bits(*arrays):
    return sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()

def run_act(observations):
    choices, log_probs, values = np.empty((300, 1), np.int32), np.empty(300, np.float32), np.empty(300, np.float32)
    streams = make_streams(1, 300)
    network.act(observations, np.zeros(300, bool), NO_MASKS, streams, choices, log_probs, values)
    return choices, log_probs, values

policy = random_policy(spaces.Box(0, 1, (52,), np.int8), spaces.Discrete(145))
network = CompiledNetwork(policy, 300, 1)
rollout = Rollout.allocate(2, 100, policy.observations, policy.actions, False)
shown = np.random.default_rng(1).integers(0, 2, (300, 52), np.int8)
policy.observations.store(shown, rollout.observations.reshape(300, -1))
if "draw first" in sys.argv:
    random_batch(policy, 3, 100, False)
acted = run_act(rollout.observations.reshape(300, -1))
rollout.choices[:] = acted[0][:200].reshape(rollout.choices.shape)
batch = random_batch(policy, 3, 100, False)
means = network.gradient(batch, np.arange(300), Terms(0.2, 0.0, 0.5, 0.01))
found = {
    "act": bits(*acted),
    "evaluate": bits(*network.evaluate(rollout, network.recurrent_state)),
    "gradient": bits(network.gradients.numpy(), means),
}
network.close()
config = PPOConfig(steps=1500, rollout=25, minibatches=2, compute="compiled", policy=PolicyConfig(hidden=(16,)))
found["ppo"] = bits(train(config, BitsEnv(20)).policy.flat.numpy())
json.dump([sum(act.stats.cache_misses.values()), found], sys.stdout)
"""


@pytest.mark.skipif(not COMPILED, reason="there is no machine code when NUMBA_DISABLE_JIT is set")
def test_the_process_that_compiles_computes_the_same_bits_as_later_ones(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        "GARRISON_CACHE_DIR": str(tmp_path),
        "NUMBA_BOUNDSCHECK": "0",  # as users run it: bounds checks keep loops from becoming vector instructions
    }

    def run(*arguments: str) -> tuple[int, dict[str, str]]:
        misses, found = json.loads(subprocess.check_output([sys.executable, "-c", SCRIPT, *arguments], env=environment))
        return misses, found

    misses, compiled = run()
    assert misses > 0
    assert run() == (0, compiled)
    assert run("draw first") == (0, compiled)  # a kernel that `act` calls too, and has its own copy of
