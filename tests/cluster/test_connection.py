"""The Ray that we start: on the loopback only, gone with the driver; and what is said when there is none."""

import os
import signal
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import ray

import garrison.vector
from garrison import cluster
from garrison.errors import UserError
from tests.helpers.processes import descendants, gone, listening
from tests.helpers.vector_samples import Sampler


def test_nothing_listens_beyond_the_loopback(local_ray: None) -> None:
    envs = garrison.vector.make([partial(Sampler, 3)] * 2, backend="ray", workers=2)
    envs.reset(seed=0)
    family = descendants(os.getpid()) | {os.getpid()}
    assert set(envs.pids) <= family
    addresses = listening(family)
    assert addresses == {"127.0.0.1"}  # not empty: the head, the raylet, the workers and the driver listen
    envs.close()


def test_the_search_for_sockets_would_find_others() -> None:
    with socket.create_server(("0.0.0.0", 0)), socket.create_server(("::", 0), family=socket.AF_INET6):
        assert {"0.0.0.0", "::"} <= listening({os.getpid()})


def test_connecting_again_is_the_same_session_and_elsewhere_an_error(local_ray: None) -> None:
    session = cluster.connect()
    assert session is cluster.connect("local")
    assert session.ours
    assert session.address.startswith("127.0.0.1:")
    assert len(session.nodes()) == 1
    assert session.cpus()[0] == 4
    with pytest.raises(UserError, match="call disconnect"):
        cluster.connect("192.0.2.1:6379")


SCRIPT = """
import os, signal, sys, time
import garrison.vector
envs = garrison.vector.make("CartPole-v1", 2, backend="ray", workers=2)
envs.reset(seed=0)
print("ready", flush=True)
sys.stdin.readline()
{ending}
"""


@pytest.mark.parametrize("ending", ["pass", "os.kill(os.getpid(), signal.SIGKILL)"], ids=["exit", "kill"])
def test_nothing_outlives_the_driver(ending: str) -> None:
    driver = subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(ending=ending)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert driver.stdin
    assert driver.stdout
    assert driver.stdout.readline() == "ready\n"
    family = descendants(driver.pid)
    assert len(family) >= 4  # the head's store, the raylet, two actors
    # Ray's two agents see a killed driver only after a minute; they hold nothing and then end by themselves.
    agents = (
        {pid for pid in family if b"Agent" in Path(f"/proc/{pid}/cmdline").read_bytes()} if "KILL" in ending else set()
    )
    driver.stdin.write("\n")
    driver.stdin.flush()
    code = driver.wait()
    assert code == (0 if ending == "pass" else -signal.SIGKILL)
    assert gone(family - agents)
    driver.stdin.close()
    driver.stdout.close()


@pytest.mark.parametrize(
    ("address", "message"),
    [("nonsense", "'local', 'auto' or host:port; got 'nonsense'"), ("127.0.0.1:1", "nothing answers there")],
)
def test_a_wrong_address_is_told_at_once(address: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(UserError, match=message):
        cluster.connect(address)


def test_another_process_finds_our_ray_on_the_loopback(local_ray: None) -> None:
    script = "from garrison import cluster; s = cluster.connect('auto'); print(s.address, s.ours)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert run.stdout.split() == [cluster.connect().address, "False"], run.stderr
