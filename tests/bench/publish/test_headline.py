"""The claims: of several seeds the middle one speaks, not the best."""

import pytest

from garrison.bench.publish import headline


def run(seed: int, total: float, rules: str = "leaderboard", preset: str = "record") -> dict[str, object]:
    evaluation = {"rules": rules, "total": total, "ci95": 0.1}
    return {"preset": preset, "seed": seed, "seconds": 180.0, "evaluation": evaluation}


@pytest.mark.parametrize(("totals", "middle"), [((-43.0, -42.0, -44.0), 0), ((-43.0, -42.0, -44.0, -45.0), 2)])
def test_the_record_is_told_by_its_median_seed(totals: tuple[float, ...], middle: int) -> None:
    runs = [
        *(run(seed, total) for seed, total in enumerate(totals)),
        run(9, -1.0, "head"),
        run(8, -1.0, preset="record-quick"),
    ]
    claim = headline.CLAIMS["record"]({"runs": runs})
    assert claim.command == f"garrison train record --seed {middle}"
    assert f"median of {len(totals)} seeds" in claim.what
    assert claim.ours == f"{totals[middle]:.2f} ± 0.10"
