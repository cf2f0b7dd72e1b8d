"""Why a number cannot be quoted, from the stored method of its run."""

from typing import Any

from garrison.bench.method.estimate import FEWEST, NARROW
from garrison.formatting import plural

TITLE = "not steady"
"""What tables call numbers that cannot be quoted."""
MEANING = f"a 95 % interval wider than {100 * NARROW:g} %, or too few rounds for one"
"""What that is."""
STEADY, REPEATED, BUDGET_USED = "steady", "repeats", "budget"
"""What can end the rounds of a run."""
FELT = 0.02
"""The share of the cores' time that others may take unmentioned."""


def why_wide(method: dict[str, Any], rounds: int) -> str:
    """Return how many rounds a number rests on, why there were no more, and who disturbed them."""
    if not rounds:
        return "no interval was kept"
    ended_by = method.get("ended_by", REPEATED)  # as all runs of older versions were
    few = f"; an interval needs {FEWEST}" if rounds < FEWEST else ""
    if ended_by == REPEATED:
        reason = "as asked for"
    elif ended_by == STEADY or rounds < method["rounds"]:
        reason = "then what each row itself is compared with was steady"
    else:
        reason = f"then the budget of {method['budget']} was used up"
    return f"{plural(rounds, 'round')}, {reason}{few}{disturbance(method)}"


def disturbance(method: dict[str, Any]) -> str:
    """Return what others on the same host took of the cores, to be read behind a reason; empty if that is little."""
    middle, most = method.get("stolen", (0.0, 0.0))
    if most < FELT:
        return ""
    return f"; others on the host took {middle:.0%} of the cores' time (median, at most {most:.0%})"
