"""The folder of a search of orders with numbers that are known, written without a search."""

import json
from pathlib import Path

from garrison.runs import marks


def write_search_folder(path: Path, tried: int = 30) -> Path:
    """Write a finished search, the second half of whose orders comply; the last one is the best."""
    path.mkdir(parents=True)
    (path / "config.yaml").write_text("{}")
    (path / "search.json").write_text("{}")
    marks.add_mark(path, marks.STARTED, 0, 0.0)
    orders = [
        {
            "order": 4 * k % 120,
            "name": f"order {k}",
            "units": "units",
            "reward": -60.0 + k,
            "reward_ci95": 1.5,
            "compliance": 0.5 + k / (2 * tried),
            "compliance_ci95": 0.01,
            "alignment": 1.0,
            "fixes": 3.0,
            "counts": k >= tried // 2,
            "iteration": k,
            "episodes": 100,
            "stopped": "compliance",
            "seconds": 1.0,
        }
        for k in range(tried)
    ]
    settings = {
        "env": {"red": "bline"},
        "search": {"method": "gp"},
        "workflow": {"compliance_threshold": 0.75},
    }
    results = {
        "ended": "budget",
        "ended_because": "the episodes are used up",
        "ended_at": marks.now(),
        "seconds": 90.0,
        "base_episodes": 0,
        "best": orders[-1]["order"],
        "orders": orders,
        "posterior": {
            "mean": [-50.0 + k / 10 for k in range(120)],
            "deviation": [2.0] * 120,
            "length": 1.0,
            "noise": 1.0,
        },
        "settings": settings,
    }
    (path / "results.json").write_text(json.dumps(results))
    return path
