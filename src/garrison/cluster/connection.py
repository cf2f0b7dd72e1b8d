"""The connection to Ray: a cluster that runs already, or one of our own that nobody outside this machine can reach.

Ray replaces 127.0.0.1 by the machine's outward address and then listens on every interface, except where a cluster
makes no sense to it: a setting of its own, made for Windows and macOS. We use that setting for what we start, so that
all its sockets are bound to the loopback; `tests/cluster/test_connection.py` looks at every one of them.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from garrison.errors import UserError
from garrison.system import install

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
CONNECT_SECONDS = 5.0
_OUTWARD = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Ray's variable: whether a machine's nodes use its outward address."""


@dataclass(frozen=True)
class Session:
    """What a driver is connected to."""

    address: str
    """Of the cluster's head: host:port."""
    ours: bool
    """Whether this process has started it, alone and on the loopback; it ends with this process."""

    def nodes(self) -> list[dict[str, Any]]:
        """Return the nodes that are alive, as Ray describes them."""
        return [node for node in load().nodes() if node["Alive"]]

    def cpus(self) -> tuple[float, float]:
        """Return how many CPUs the cluster has, and how many of them nobody has asked for."""
        ray = load()
        return ray.cluster_resources().get("CPU", 0.0), ray.available_resources().get("CPU", 0.0)


_session: Session | None = None


def connect(address: str | None = None, *, cpus: int | None = None) -> Session:
    """Connect this process to Ray, unless it already is; later calls return the same session.

    Args:
        address: `local` starts Ray in this machine, reachable from nowhere else; `auto` finds a cluster that runs on
            this machine; `host:port` is the head of any cluster. By default the variable RAY_ADDRESS, or else `local`.
        cpus: How many CPUs a Ray of our own pretends to have; the cores by default.
    """
    global _session
    ray = load()
    if ray.is_initialized():
        present = ray.get_runtime_context().gcs_address
        if address not in (None, "auto", "local", present):
            raise UserError(f"this process is connected to Ray at {present}; call disconnect() before {address}")
        if _session is None or _session.address != present:
            _session = Session(present, ours=False)  # somebody else's ray.init()
        return _session
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # its new default; the old one warns
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address == "local":
        options.update(address="local", include_dashboard=False, num_cpus=cpus)
        inside = True
    else:
        options["address"], inside = _locate(address)
    with inward(inside):
        try:
            context = ray.init(**options)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise _unreachable(address, str(error).splitlines()[0]) from error
    _session = Session(context.address_info["gcs_address"], ours=address == "local")
    return _session


def disconnect() -> None:
    """Leave the cluster; what this process has started in it, a Ray of its own included, ends."""
    global _session
    load().shutdown()
    _session = None


def load() -> Any:
    """Import Ray, or say how to get it."""
    with suppress(ImportError):
        ray = import_module("ray")
        if hasattr(ray, "init"):  # a folder named ray beside the program, such as Ray's own in /tmp, imports too
            return ray
    raise UserError(f"Ray is not installed: {install('ray')}")


@contextmanager
def inward(wanted: bool = True) -> Iterator[None]:
    """Let Ray take 127.0.0.1 at its word for what is started or connected inside."""
    constants: Any = import_module("ray._private.ray_constants")
    before, constants.ENABLE_RAY_CLUSTER = constants.ENABLE_RAY_CLUSTER, constants.ENABLE_RAY_CLUSTER and not wanted
    variable = os.environ.get(_OUTWARD)
    if wanted:
        os.environ[_OUTWARD] = "0"  # for the processes that Ray starts
    try:
        yield
    finally:
        constants.ENABLE_RAY_CLUSTER = before
        if variable is not None:
            os.environ[_OUTWARD] = variable
        elif wanted:
            del os.environ[_OUTWARD]


def _locate(address: str) -> tuple[str, bool]:
    """Return the host and port of a cluster's head, and whether it listens on the loopback only."""
    services: Any = import_module("ray._private.services")
    if address == "auto":
        try:
            with inward():
                address = services.canonicalize_bootstrap_address("auto")
        except ConnectionError as error:
            raise _unreachable("auto", "no Ray runs on this machine") from error
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise UserError(f"an address of Ray is 'local', 'auto' or host:port; got {address!r}")
    if host in LOOPBACK and _answers(services.get_node_ip_address(), int(port)):
        return address, False  # a cluster with an outward address, which Ray finds by itself
    if not _answers(host.strip("[]"), int(port)):
        raise _unreachable(address, "nothing answers there")
    return address, host in LOOPBACK


def _answers(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), CONNECT_SECONDS).close()
    except OSError:
        return False
    return True


def _unreachable(address: str, why: str) -> UserError:
    return UserError(f"cannot connect to Ray at {address!r}: {why}. Start one with 'ray start --head', or use 'local'.")
