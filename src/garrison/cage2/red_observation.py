"""What a learned attacker sees and may choose: bits that follow from what Red knows, and masks over `RED_MOVES`.

Nothing is read from the true state but Red's own sessions: an attacker notices when a shell is gone. What it remembers
of this episode is in fields that scripted attackers use in the same way (red_agent.py keeps them up to date).
"""

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.defender_memory import CLOCK
from garrison.cage2.layout import Record
from garrison.cage2.names import NUM_HOSTS, NUM_SUBNETS, PORTS, Access, Host, RedKind, Success
from garrison.cage2.red_moves import NUM_RED_MOVES
from garrison.jit import kernel, records

# The groups of bits, in order.
RED_GROUPS = {
    "address known": NUM_HOSTS,
    "hostname known": NUM_HOSTS,
    "user session": NUM_HOSTS,
    "privileged session": NUM_HOSTS,
    "a scan was answered": NUM_HOSTS,
    "exploit tried": NUM_HOSTS,
    "the last exploit there succeeded": NUM_HOSTS,
    "escalation tried": NUM_HOSTS,
    "target of the last action": NUM_HOSTS,
    "port open at the last answered scan": NUM_HOSTS * len(PORTS),
    "subnet known": NUM_SUBNETS,
    "subnet swept": NUM_SUBNETS,
    "the service is known": 1,
    "kind of the last action": RedKind.INVALID + 1,
    "the last action succeeded": 1,
    "steps taken": len(CLOCK),
}
NUM_RED_BITS = sum(RED_GROUPS.values())
NUM_PORTS = len(PORTS)


@kernel
def exploits_that_worked(env: Record) -> int:
    """Return the mask of hosts whose last exploit succeeded, that of the last step included."""
    mask = int(env.mapped)
    if env.red_kind != RedKind.EXPLOIT:
        return mask
    bit = 1 << int(env.red_target)
    return mask | bit if env.red_success == Success.YES else mask & ~bit


@kernel
def write_red_bits(env: Record, row: NDArray[np.int8]) -> None:
    """Write what Red sees now."""
    worked = exploits_that_worked(env)
    target = -1 if env.red_kind == RedKind.SWEEP else int(env.red_target)
    for h in range(NUM_HOSTS):
        row[h] = env.known_address[h]
        row[NUM_HOSTS + h] = env.known_host[h]
        row[2 * NUM_HOSTS + h] = 1 if env.access[h] == Access.USER else 0
        row[3 * NUM_HOSTS + h] = 1 if env.access[h] == Access.PRIVILEGED else 0
        row[4 * NUM_HOSTS + h] = 1 if env.red_ports[h] >= 0 else 0
        row[5 * NUM_HOSTS + h] = (int(env.exploited) >> h) & 1
        row[6 * NUM_HOSTS + h] = (worked >> h) & 1
        row[7 * NUM_HOSTS + h] = (int(env.escalated) >> h) & 1
        row[8 * NUM_HOSTS + h] = 1 if target == h else 0
    at = 9 * NUM_HOSTS
    for h in range(NUM_HOSTS):
        ports = int(env.red_ports[h])
        for p in range(NUM_PORTS):
            row[at + p] = (ports >> p) & 1 if ports >= 0 else 0
        at += NUM_PORTS
    for s in range(NUM_SUBNETS):
        row[at + s] = env.known_subnet[s]
        row[at + NUM_SUBNETS + s] = (int(env.swept) >> s) & 1
    at += 2 * NUM_SUBNETS
    row[at] = env.ot_known
    at += 1
    for kind in range(RedKind.INVALID + 1):
        row[at + kind] = 1 if env.red_kind == kind else 0
    at += RedKind.INVALID + 1
    row[at] = 1 if env.red_success == Success.YES else 0
    at += 1
    for k in range(len(CLOCK)):
        row[at + k] = 1 if env.t >= CLOCK[k] else 0


@kernel
def allow_red(env: Record, row: NDArray[np.bool_]) -> None:
    """Write which of `RED_MOVES` Red does not know to fail; Sleep is always among them."""
    row[0] = True
    at = 1
    for s in range(NUM_SUBNETS):
        row[at + s] = env.known_subnet[s] != 0
    at += NUM_SUBNETS
    for h in range(NUM_HOSTS):
        known, named = env.known_address[h] != 0, env.known_host[h] != 0
        row[at + h] = known
        row[at + NUM_HOSTS + h] = known and env.red_ports[h] >= 0
        row[at + 2 * NUM_HOSTS + h] = named and env.sessions[h] > 0
    server = Host.OP_SERVER0
    row[at + 3 * NUM_HOSTS] = env.ot_known != 0 and env.known_host[server] != 0 and env.sessions[server] > 0


@kernel(cached=True)
def observe_red_batch(envs: NDArray[np.void], obs: NDArray[np.int8]) -> None:
    """Write what Red sees in each environment."""
    for i in range(len(envs)):
        write_red_bits(envs[i], obs[i])


@kernel(cached=True)
def mask_red_batch(envs: NDArray[np.void], masks: NDArray[np.bool_]) -> None:
    """Write what Red may choose in each environment."""
    for i in range(len(envs)):
        allow_red(envs[i], masks[i])


def red_observations(envs: NDArray[np.void]) -> NDArray[np.int8]:
    """Return what Red sees in each environment, (n, NUM_RED_BITS)."""
    obs = np.empty((len(envs), NUM_RED_BITS), np.int8)
    observe_red_batch(records(envs), obs)
    return obs


def red_masks(envs: NDArray[np.void]) -> NDArray[np.bool_]:
    """Return (n, NUM_RED_MOVES): False where Red knows that a move would fail."""
    masks = np.empty((len(envs), NUM_RED_MOVES), np.bool_)
    mask_red_batch(records(envs), masks)
    return masks
