"""The cost of a step, term by term (rules §10)."""

from garrison.cage2.layout import ACTION_TERM, SERVICE_TERM, Record
from garrison.cage2.names import NUM_HOSTS, Access
from garrison.jit import kernel

RESOLUTION = 1000.0  # rewards are multiples of 0.001


@kernel
def to_resolution(x: float) -> float:
    """Return the float nearest to the decimal that `x` stands for: sums of decimals carry rounding errors."""
    return float(round(x * RESOLUTION)) / RESOLUTION


@kernel
def charge(env: Record, sc: Record, action_cost: float) -> float:
    """Return the step's reward and keep its terms."""
    total = 0.0
    for h in range(NUM_HOSTS):
        term = -sc.confidentiality[h] if env.access[h] == Access.PRIVILEGED else 0.0
        env.reward_terms[h] = term
        total += term
    env.reward_terms[SERVICE_TERM] = 0.0 if env.ot_running else -sc.service_cost
    env.reward_terms[ACTION_TERM] = -action_cost
    reward = to_resolution(total + env.reward_terms[SERVICE_TERM] + env.reward_terms[ACTION_TERM])
    env.total = to_resolution(env.total + reward)
    return reward
