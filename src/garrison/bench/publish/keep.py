"""What a suite does with its result at the end."""

from pathlib import Path
from typing import Any

from garrison.bench.publish.bench_page import write_page
from garrison.storage.atomic import write_json


def keep(out: Path | None, name: str, result: dict[str, Any]) -> None:
    """Write `name`.json into the folder, make its page again and say so; without a folder, do nothing."""
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        write_json(out / f"{name}.json", result)
        print(f"wrote {out / name}.json and {write_page(out)}")
