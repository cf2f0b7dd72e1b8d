"""A real cluster of several nodes: what is lost with an actor, a node or a driver, and what is not."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import ray

import garrison.vector
from garrison.cluster.ray_transport import Remote
from garrison.errors import UserError
from garrison.learn.actors.actor import ActorPlan
from garrison.learn.config import ImpalaConfig
from garrison.learn.impala import train
from garrison.learn.run import RunLog
from garrison.vector import EnvFailed, EnvTimeout
from tests.helpers.backend_contract import play
from tests.helpers.cluster_plans import NET, carts, plan, receive
from tests.helpers.processes import alive, gone
from tests.helpers.vector_samples import Sampler, assert_same


def settings(**changes: Any) -> ImpalaConfig:
    given = {"steps": 100_000_000, "actors": 3, "rollout": 8, "compute": "autograd"}
    return ImpalaConfig(**given | changes, policy=NET)


@pytest.fixture
def open_transport(cluster_of_three: Any) -> Iterator[Callable[[ActorPlan], Remote]]:
    opened: list[Remote] = []

    def start(plan: ActorPlan) -> Remote:
        opened.append(Remote(plan))
        return opened[-1]

    yield start
    for transport in opened:
        transport.close()


class Story(RunLog):
    """Follows a run: each act is done once its condition holds; the run ends after the last."""

    def __init__(
        self, start: Callable[[ActorPlan], Remote], *acts: tuple[Callable[[Remote], bool], Callable[[], None]]
    ) -> None:
        self.start, self.acts = start, list(acts)
        self.said: list[str] = []
        self.metrics: list[dict[str, float]] = []
        self.deadline = time.monotonic() + 240

    def connect(self, plan: ActorPlan) -> Remote:
        self.transport = self.start(plan)
        return self.transport

    @property
    def stop(self) -> bool:
        assert time.monotonic() < self.deadline, (self.said, self.metrics[-1:])
        if self.acts and self.acts[0][0](self.transport):
            self.acts.pop(0)[1]()
        return not self.acts

    def log(self, step: int, metrics: dict[str, float]) -> None:
        self.metrics.append(metrics)

    def say(self, text: str) -> None:
        self.said.append(text)

    def tells(self, *words: str) -> bool:
        return any(all(word in sentence for word in words) for sentence in self.said)


def nothing() -> None:
    pass


def everywhere(transport: Remote) -> bool:
    return transport.actors == 3 and len(set(transport.nodes)) == 3


def test_a_run_outlives_an_actor_and_a_node_and_uses_one_that_joins(open_transport: Any, cluster_of_three: Any) -> None:
    nodes = cluster_of_three
    updates = {}

    def kill_actor() -> None:
        os.kill(story.transport.pids[1], signal.SIGKILL)

    def kill_node() -> None:
        updates["three"] = len(story.metrics)
        nodes.remove_node(next(iter(nodes.worker_nodes)), allow_graceful=False)

    def join() -> None:
        nodes.add_node(**nodes.small)

    story = Story(
        open_transport,
        (everywhere, nothing),
        (lambda t: t.traffic.trajectories > 30, kill_actor),
        (lambda t: t.replaced == 1 and everywhere(t), kill_node),
        (lambda t: t.replaced >= 2 and t.actors == 2 and "waits for room" in story.said[-1], nothing),
        (lambda t: len(story.metrics) > updates["three"] + 10, join),
        (everywhere, nothing),
    )
    result = train(settings(), carts, 4, run=story, connect=story.connect)
    assert story.tells("actor 1", "died; another one takes its place")
    assert story.tells("has found room and begins")
    traffic = story.transport.traffic
    assert result.updates == len(story.metrics) == traffic.trajectories  # what arrived was learned from
    assert traffic.versions == result.updates + 1  # one put each
    assert traffic.published == traffic.versions * result.policy.flat.numel() * 4
    assert traffic.received == traffic.trajectories * story.transport._bytes
    assert {"actors/fetch", "train/policy_lag", "train/actors"} <= result.metrics.keys()
    assert np.mean([m["train/policy_lag"] for m in story.metrics]) <= 3 * 2  # as many as can be under way
    assert not result.exact_resume


def test_the_learner_reads_in_place_and_an_actor_waits_for_it(open_transport: Any) -> None:
    transport = open_transport(plan(actors=1))
    assert transport.receive(0.0) is None  # no weights yet
    weights = np.zeros(transport._plan.layout.policy.flat.numel(), np.float32)
    transport.publish(weights, 0)
    held = [receive(transport) for _ in range(2)]
    assert not held[0].buffer.rollout.observations.flags.writeable  # in the object store
    assert not held[0].buffer.rollout.observations.flags.owndata
    assert held[0].report.version == 0
    assert transport.receive(0.5) is None  # both of its buffers are with the learner
    transport.publish(weights + 1, 7)
    transport.release(held[0])
    fresh = receive(transport)
    assert fresh.report.version == 7  # asked for when it began
    assert transport.receive(0.2) is None
    first, second = (t.buffer.rollout.observations for t in held)
    assert not np.array_equal(first, second)  # the earlier ones are not overwritten
    assert (first[-1] == second[0]).all()  # and follow each other


def test_actors_begin_with_seeds_of_their_own_and_repeat(open_transport: Any) -> None:
    seen = []
    for _ in range(2):
        transport = open_transport(plan(buffers=1))
        transport.publish(np.zeros(transport._plan.layout.policy.flat.numel(), np.float32), 0)
        first = sorted((receive(transport) for _ in range(2)), key=lambda t: t.actor)
        seen.append(np.stack([t.buffer.rollout.observations[0] for t in first]))
        transport.close()
    assert np.array_equal(*seen)
    assert not np.array_equal(seen[0][0], seen[0][1])


class Broken(gymnasium.Wrapper):  # type: ignore[type-arg]
    """Does what `fault` says at its fifth step."""

    def __init__(self, fault: str) -> None:
        super().__init__(gymnasium.make("CartPole-v1"))
        self.fault, self.steps = fault, 0

    def step(self, action: Any) -> Any:
        self.steps += 1
        if self.steps == 5:
            if self.fault == "raise":
                raise ValueError("five")
            if self.fault == "input":
                raise UserError("the scenario is wrong")
            time.sleep(1000)
        return super().step(action)


def test_replacing_that_does_not_help_is_an_error_that_names_the_reason(
    open_transport: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("garrison.workers.supervisor.MANY", 1)
    make_envs = partial(carts, env=partial(Broken, "raise"))
    transport = open_transport(plan(make_envs, actors=1))
    transport.publish(np.zeros(transport._plan.layout.policy.flat.numel(), np.float32), 0)
    with pytest.raises(EnvFailed, match=r"for the same reason.*environment 0 raised ValueError in step\(\): five"):
        receive(transport)


def test_a_stuck_actor_is_replaced(open_transport: Any) -> None:
    transport = open_transport(plan(partial(carts, env=partial(Broken, "stuck")), actors=1, timeout=1.0))
    transport.publish(np.zeros(transport._plan.layout.policy.flat.numel(), np.float32), 0)
    deadline = time.monotonic() + 60
    said: list[str] = []
    while not transport.replaced and time.monotonic() < deadline:
        assert transport.receive(0.2) is None
        said += transport.check()
    assert "has not been heard of for 1 s; another one takes its place" in said[0]


def test_other_spaces_than_the_learners_are_told(open_transport: Any) -> None:
    given = plan(partial(carts, env="Acrobot-v1"), actors=1)
    wrong = plan(actors=1)
    transport = open_transport(ActorPlan(given.spec, wrong.layout, 1, 1, 60.0, 0))
    with pytest.raises(UserError, match="other spaces than the learner's"):
        receive(transport)


def test_what_cannot_be_sent_is_told(open_transport: Any, tmp_path: Path) -> None:
    with (tmp_path / "open").open("w") as file:
        make_envs = partial(_with_file, file)
        with pytest.raises(UserError, match="cannot be sent to another machine"):
            open_transport(plan(make_envs, actors=1))


def _with_file(file: Any, n: int) -> Any:
    return carts(n)


DRIVER = """
import sys
sys.path[:0] = {folders!r}
from garrison import cluster
from garrison.cluster.ray_transport import Remote
from tests.helpers.cluster_plans import plan, receive
import numpy as np
cluster.connect({address!r})
transport = Remote(plan())
transport.publish(np.zeros(transport._plan.layout.policy.flat.numel(), np.float32), 0)
while transport.actors < 2:
    transport.release(receive(transport))
print(*transport.pids, flush=True)
sys.stdin.readline()
"""


def test_a_killed_driver_leaves_no_actor_behind(cluster_of_three: Any) -> None:
    script = DRIVER.format(folders=[str(Path(__file__).parents[2]), *sys.path], address=cluster_of_three.address)
    driver = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert driver.stdin
    assert driver.stdout
    pids = set(map(int, driver.stdout.readline().split()))
    assert sum(map(alive, pids)) == 2
    driver.kill()
    driver.wait()
    assert gone(pids)
    driver.stdin.close()
    driver.stdout.close()


class Resident(Sampler):
    def node(self) -> str:
        found: str = ray.get_runtime_context().get_node_id()
        return found


def test_environments_spread_over_the_nodes(cluster_of_three: Any) -> None:
    envs = garrison.vector.make(Resident, 6, "ray", workers=3)
    serial = garrison.vector.make(Sampler, 6, "serial")
    assert len(set(envs.call("node"))) == 3
    assert_same(play(serial), play(envs))
    envs.close()


def test_workers_without_room_are_told(cluster_of_three: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("garrison.vector.env_workers.MAKING_SECONDS", 6.0)
    with pytest.raises(EnvTimeout, match=r"not made environment \d within 6 s; the cluster has 3 CPUs, 0 of them free"):
        garrison.vector.make(Sampler, 4, "ray", workers=4, timeout=1.0)
