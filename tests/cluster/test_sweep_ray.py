"""A sweep on Ray: every run in a process on some node, failing and interrupted ones included."""

import csv
from pathlib import Path

import pytest

import garrison
from garrison.errors import UserError
from garrison.runs.presets import preset
from garrison.sweeps.one_run import Job
from garrison.sweeps.ray_slots import RaySlots
from tests.helpers.processes import eventually

TINY = {
    "steps": 64,
    "envs": 2,
    "rollout": 8,
    "hidden": (8,),
    "tensorboard": False,
    "page": False,
    "evaluate_episodes": 0,
}
EXPERIMENT = preset("ppo-cartpole").changed(**TINY)


@pytest.mark.usefixtures("local_ray")
def test_every_run_is_trained_in_a_process_of_the_cluster(tmp_path: Path) -> None:
    swept = garrison.sweep(EXPERIMENT, tmp_path / "sweep", seeds=2, cluster="local", progress=False)
    assert (swept.state, swept.failures) == ("finished", {})
    rows = list(csv.DictReader((tmp_path / "sweep" / "table.csv").read_text().splitlines()))
    assert [row["state"] for row in rows] == ["finished", "finished"]
    assert (tmp_path / "sweep" / "index.html").is_file()


@pytest.mark.usefixtures("local_ray")
def test_a_folder_that_a_node_does_not_see_is_a_sentence(tmp_path: Path) -> None:
    slots = RaySlots("local", 1, 1, tmp_path / "elsewhere" / "sweep.yaml")
    process = slots.start(Job(EXPERIMENT.to_dict(), "mine", str(tmp_path / "run"), [0], []))
    with pytest.raises(UserError, match="does not see the sweep's folder"):
        eventually(lambda: process.poll() is not None)
    slots.close()


@pytest.mark.usefixtures("local_ray")
def test_more_cpus_than_the_cluster_has_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="a run needs 99 CPUs, and the cluster has 4"):
        RaySlots("local", 99, 0, tmp_path)
