"""In the place of the gym of 2021: games of ours."""

from typing import Any


def make(name: str) -> Any:
    """Return a game of CoinRun, whatever it is called."""
    from garrison.bench.suites import coinrun_job

    return coinrun_job.one_coinrun()
