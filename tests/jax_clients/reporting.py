"""How a client's program tells `__main__` what it did."""

import json
from importlib.metadata import version


def report(client: str, which: str, did: str, returns: list[float], wrong: str) -> None:
    """Print the facts as the last line: who ran, in which version, what it did, its returns, and what was wrong."""
    said = {"client": client, "version": which, "gymnax": version("gymnax"), "did": did}
    print(json.dumps({**said, "returns": returns, "wrong": wrong}))
