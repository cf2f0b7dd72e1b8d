"""`garrison bench train --part async`: learners without a barrier, on native CAGE-2 and on uneven Python steps.

Two questions. *Native*: how fast do asynchronous actors and one learner train where environments cost almost nothing,
beside synchronous PPO with the same epochs, and beside RLlib's IMPALA where an interpreter has it. *Uneven*: on Python
environments of about 1 ms with log-normal step times, how close to the limit (as many bare loops as cores, side by
side, which never wait for anybody) do IMPALA, A3C, PPO over a barrier and PPO that collects ready first come?
"""

import sys
from collections.abc import Mapping
from typing import Any

from garrison.bench.method.fresh import Configuration
from garrison.bench.method.labels import GARRISON, LIMIT, LOOP, Labels
from garrison.bench.synthetic import rounds_per_second
from garrison.system import cores

OURS, STEPPING = "garrison.bench.suites.our_trainers", "garrison.bench.suites.stepping"
RLLIB, APPO = "garrison.bench.suites.peer_trainers:rllib_impala", "garrison.bench.suites.sample_factory:appo"
STEP_SECONDS = 0.001  # of the Python environment on a quiet core, on average
ENVS, ROLLOUT = 16, 32  # of each Python actor: short steps that add up to some unevenness
PPO_ROLLOUT = 128  # with twice 16 environments the users' own job; a rollout ends when the slowest worker has ended it
NATIVE: dict[str, Any] = {"rollout": 100, "minibatches": 8}


def configurations(quick: bool, peers: Mapping[str, str]) -> list[Configuration]:
    """Return what is measured; `peers` names an interpreter for each peer that there is one for."""
    return [*native(quick, peers.get("rllib", "")), *uneven(peers.get("rllib", ""), peers.get("sample_factory", ""))]


def native(quick: bool, rllib_python: str) -> list[Configuration]:
    """Return the learners on CAGE-2's compiled batch."""
    count = cores()
    actors = max(1, count - 1)
    ours = {"env": "native", "who": GARRISON}
    rows = []
    for epochs in (1,) if quick else (1, 2, 4):
        job = {"num_envs": 1024, **NATIVE, "epochs": epochs}
        rows.append(Configuration(ours | {"learner": "PPO", "epochs": epochs}, f"{OURS}:ppo", {"job": job}))
        some = {"actors": actors, "envs": 512, "batch": 2, "epochs": epochs, **NATIVE}
        alone = {"actors": 0, "envs": 1024, "threads": count, "epochs": epochs, **NATIVE}
        for given in (some, alone):
            labels = ours | {"learner": "IMPALA", "actors": given["actors"], "epochs": epochs}
            rows.append(Configuration(labels, f"{OURS}:impala", given))
    given = {"actors": count, "envs": 64, "rollout": 20}
    rows.append(Configuration(ours | {"learner": "A3C", "actors": count}, f"{OURS}:a3c", given))
    if rllib_python:
        labels = {"env": "native", "who": "RLlib", "learner": "IMPALA", "actors": actors, "epochs": 1}
        given = {"runners": actors, "envs": ENVS, "rollout": ROLLOUT}
        rows.append(Configuration(labels, RLLIB, given, rllib_python))
    return rows


def uneven(rllib_python: str, sample_factory_python: str) -> list[Configuration]:
    """Return the learners on Python environments with uneven steps, and the loops that only step them."""
    count = cores()
    work = {"rounds": int(STEP_SECONDS * rounds_per_second())}
    loops = {"env": "synthetic", "options": work | {"uneven": True}, "num_envs": ENVS * count}
    actors = {"actors": count, "envs": ENVS, "rollout": ROLLOUT, **work}
    job = {"num_envs": ENVS * count, "rollout": PPO_ROLLOUT, "minibatches": 1, "epochs": 1}
    parallel = {"job": job, "workers": count, "options": work | {"uneven": True}}

    def row(labels: Labels, workload: str, given: dict[str, Any], python: str = sys.executable) -> Configuration:
        return Configuration({"env": "uneven"} | labels, workload, given, python)

    rows = [
        row({"who": LOOP}, f"{STEPPING}:plain", loops),
        row({"who": LIMIT}, f"{STEPPING}:limit", loops | {"workers": count}),
        row({"who": GARRISON, "learner": "IMPALA", "actors": count}, f"{OURS}:impala", actors),
        row({"who": GARRISON, "learner": "A3C", "actors": count}, f"{OURS}:a3c", actors),
        row({"who": GARRISON, "learner": "PPO", "workers": count}, f"{OURS}:ppo", parallel | {"backend": "shared"}),
        row(
            {"who": GARRISON, "learner": "PPO, ready first", "workers": count},
            f"{OURS}:ppo",
            parallel | {"backend": "async"},
        ),
    ]
    if rllib_python:
        given = {"runners": count, "envs": ENVS, "rollout": ROLLOUT, **work}
        rows.append(row({"who": "RLlib", "learner": "IMPALA", "actors": count}, RLLIB, given, rllib_python))
    if sample_factory_python:
        given = {"num_envs": ENVS * count, "rollout": ROLLOUT, "workers": count, "minibatches": 1, **work}
        labels = {"who": "Sample Factory", "learner": "APPO", "workers": count}
        rows.append(row(labels, APPO, given, sample_factory_python))
    return rows


def partners(labels: Labels) -> list[Labels]:
    """Return what a row can be compared with: the bare loops on uneven environments, PPO with its epochs on native."""
    if labels["env"] == "uneven":
        return [{"env": "uneven", "who": LIMIT}]
    return [{"env": "native", "who": GARRISON, "learner": "PPO", "epochs": labels.get("epochs", 1)}]
