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


def why_wide(method: dict[str, Any], rounds: int) -> str:
    """Return how many rounds a number rests on, and why there were no more."""
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
    return f"{plural(rounds, 'round')}, {reason}{few}"
