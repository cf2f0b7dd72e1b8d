"""`garrison bench users --part coinrun`: the users' own job on CoinRun, by us, by peers and by their own code."""

from importlib.util import find_spec
from pathlib import Path

from garrison.bench.method.fresh import Configuration
from garrison.bench.method.labels import GARRISON, ROOFLINE, Labels
from garrison.bench.suites.coinrun_job import JOB
from garrison.bench.suites.training_envs import Job
from garrison.errors import UserError
from garrison.system import cores

OURS, PEERS = "garrison.bench.suites.coinrun_ours", "garrison.bench.suites.coinrun_peers"
QUICK_JOB: Job = {**JOB, "rollout": 8, "epochs": 1, "minibatches": 1}
USERS = "the users' own code"
WORKERS = 4
IN_SEQUENCE: Labels = {"who": GARRISON, "learner": "PPO", "backend": "serial"}
IN_WORKERS: Labels = {"who": GARRISON, "learner": "PPO", "backend": "shared", "workers": WORKERS}
READY_FIRST: Labels = {"who": GARRISON, "learner": "PPO", "backend": "async", "workers": WORKERS}
IN_A_BATCH: Labels = {"who": GARRISON, "learner": "PPO", "backend": "native"}
SB3_IN_SEQUENCE: Labels = {"who": "Stable-Baselines3", "learner": "PPO", "backend": "Dummy"}
THEIR_MINIBATCH = {0: 1024, WORKERS: 2048}
"""Of the users' own settings, in sequence and with workers."""


def configurations(quick: bool, their_code: Path | None = None) -> list[Configuration]:
    """Return our learners, the peers that are installed, the users' code if there is a clone, and what bounds them."""
    job = QUICK_JOB if quick else JOB
    rows = [
        Configuration(IN_SEQUENCE, f"{OURS}:ppo", {"job": job, "backend": "serial"}),
        Configuration(IN_WORKERS, f"{OURS}:ppo", {"job": job, "backend": "shared", "workers": WORKERS}),
        Configuration(READY_FIRST, f"{OURS}:ppo", {"job": job, "backend": "async", "workers": WORKERS}),
        Configuration(IN_A_BATCH, f"{OURS}:ppo", {"job": job, "backend": "native"}),
    ]
    actors = max(1, cores() - 1)
    labels = {"who": GARRISON, "learner": "IMPALA", "actors": actors}
    rows.append(Configuration(labels, f"{OURS}:impala", {"job": job, "actors": actors}))
    if find_spec("stable_baselines3"):
        rows += [
            Configuration(SB3_IN_SEQUENCE | {"backend": backend}, f"{PEERS}:sb3", {"job": job, "backend": backend})
            for backend in ("Dummy", "native")
        ]
    labels = {"who": "CleanRL-style", "learner": "PPO", "backend": "native"}
    rows.append(Configuration(labels, f"{PEERS}:cleanrl_style", {"job": job}))
    if their_code is not None:
        rows += [_theirs(job, their_code, workers) for workers in THEIR_MINIBATCH]
    return [*rows, Configuration({"who": ROOFLINE}, f"{OURS}:roofline", {"job": job})]


def partners(labels: Labels) -> list[Labels]:
    """Return what a row can be compared with: Stable-Baselines3, or else what bounds every trainer."""
    return [SB3_IN_SEQUENCE, {"who": ROOFLINE}]


def their_labels(workers: int) -> Labels:
    """Return the labels of a row of the users' own code."""
    return {"who": USERS, "learner": "PPO"} | ({"workers": workers} if workers else {})


def _theirs(job: Job, code: Path, workers: int) -> Configuration:
    if not (code / "src" / "parallel_trainer.py").exists():
        raise UserError(f"{code} is not a clone of rl-cluster-benchmark: it has no src/parallel_trainer.py.")
    given = {"job": job, "workers": workers, "minibatch": THEIR_MINIBATCH[workers]}
    return Configuration(their_labels(workers), f"{PEERS}:users_code", given, path=str(code.resolve()))
