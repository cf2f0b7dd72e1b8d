"""An attacker of your own: it escalates what it holds, else scans and exploits what it knows, at random.

With this file in the current folder or on the Python path, `garrison train --red own_attacker:Opportunist` and
`garrison evaluate record --red own_attacker:Opportunist` play against it.
"""

import numpy as np

from garrison import evaluate, load_agent
from garrison.cage2 import HOSTS, RedAgent, RedView, VectorEnv
from garrison.cage2.names import RED_ACTIONS, Access, Host, RedKind


class Opportunist(RedAgent):
    """Takes what is nearest."""

    def act(self, view: RedView) -> tuple[np.ndarray, np.ndarray]:
        """Choose in every environment; later lines are more urgent than earlier ones."""
        kinds = np.full(view.num_envs, RedKind.SLEEP)
        targets = np.zeros(view.num_envs, int)

        def prefer(kind: int, allowed: np.ndarray) -> None:
            picked = view.pick(allowed)
            kinds[picked >= 0] = kind
            targets[picked >= 0] = picked[picked >= 0]

        free = view.known_address & (view.access == Access.NONE)
        prefer(RedKind.EXPLOIT, free & view.tried(RedKind.SCAN))
        prefer(RedKind.SCAN, free & ~view.tried(RedKind.SCAN))
        prefer(RedKind.SWEEP, view.known_subnet & ~view.tried(RedKind.SWEEP))
        unread = (view.sessions > 0) & ~view.tried(RedKind.ESCALATE)  # an escalation also shows where to go next
        prefer(RedKind.ESCALATE, unread | (view.access == Access.USER))
        server = view.service_known & (view.access[:, Host.OP_SERVER0] == Access.PRIVILEGED)
        kinds[server], targets[server] = RedKind.IMPACT, Host.OP_SERVER0
        return kinds, targets


def main() -> None:
    """Watch it against a sleeping Blue, then score two defenders against it."""
    envs = VectorEnv(8, red=Opportunist, length=50)
    envs.reset(seed=0)
    for t in range(50):
        envs.step(np.zeros(8, int))
        if t % 10 == 9:
            kind, held = envs.truth.red_kind[0], np.flatnonzero(envs.truth.sessions[0])
            print(f"{t + 1:>3}  {RED_ACTIONS[kind]}; holds {', '.join(HOSTS[h] for h in held)}")
    for name in ("alert-restore", "record"):
        result = evaluate(load_agent(name), episodes=100, reds=[Opportunist], lengths=[50])
        print(f"{name} against {result.cells[0].red}: {result.total:.1f} ± {result.ci95:.1f}")


if __name__ == "__main__":
    main()
