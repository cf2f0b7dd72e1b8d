"""The page of a folder of results: whatever is there is shown, unsteady numbers are marked and never headlined."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from garrison import cli
from garrison.bench import page, results, users
from garrison.errors import UserError

MACHINE = {
    "cpu": "a <fast> one",
    "cores": 2,
    "load_before": 0.5,
    "git": None,
    "sim_hash": "abc",
    "versions": {"x": "1"},
}
STEADY, WILD = (1.0, 1.01, 0.99), (1.0, 2.0, 0.5)


def row(name: str, rate: float = 1000.0, factors: tuple[float, ...] = STEADY, **facts: float) -> dict[str, Any]:
    ordered = sorted(factors)
    return {
        "name": name,
        "arguments": {},
        "steps_per_second": rate,
        "spread": ordered[-1] - ordered[0] if len(factors) > 1 else None,
        "steady": factors == STEADY,
        "start_seconds": 0.1,
        "peak_mb": 50.0,
        "share_mb": 40.0,
        "error": None,
        "samples": [
            {"steps": rate * f, "wall_seconds": 1.0, "cpu_seconds": 1.0, "processes": 1, "facts": facts}
            for f in factors
        ],
    }


def failed(name: str) -> dict[str, Any]:
    return row(name) | {
        "steps_per_second": 0.0,
        "spread": None,
        "error": "Traceback\nValueError: <broken>",
        "samples": [],
    }


def store(folder: Path, name: str, rows: list[dict[str, Any]], command: str = "garrison bench x", **extra: Any) -> None:
    method = {"command": command, "repeats": 3, "seconds": 1.0, "date": "2026-01-01"}
    (folder / f"{name}.json").write_text(json.dumps({"machine": MACHINE, "method": method, "results": rows, **extra}))


def everything(folder: Path) -> None:
    batches = [row(f"garrison, batch of {n}", n * 1e3, batch_mb=0.1) for n in (1, 1000, 10_000)]
    threads = row("garrison, batch of 10000, 2 threads", 15e6, WILD, batch_mb=9.0)
    peers = [row("CybORG, meander", 500.0), failed("MiniCAGE, batch of 1000")]
    store(folder, "sim", [*batches, threads, *peers], startup={"import_seconds": 0.1})
    ways = ("plain loop", "limit", "garrison serial", "garrison shared", "Gymnasium Async, shared memory")
    cells = [row(f"{way} | {n} | {cost}", 10.0 * n) for way in ways for n in (20, 200) for cost in ("free", "3 ms")]
    store(folder, "vector-synthetic", cells)
    scaling = [row(f"garrison shared | {n} | workers", 900.0 * n, WILD if n == 2 else STEADY) for n in (1, 2)]
    store(folder, "vector-scaling", [row("plain loop | 1 | workers"), *scaling])
    stages = {"act": 0.2, "learn": 0.8}
    store(folder, "train", [row("garrison 64x64", **stages), row("CleanRL-style 64x64"), row("matrix products 64x64")])
    learners = [row("native, 1 epoch: PPO"), row("uneven: bare loops"), row("uneven: IMPALA", 900.0)]
    store(folder, "train-async", learners, shares={"uneven: IMPALA, share of the bare loops": 0.87})
    stepped = [row(f"{way} | {n} | garrison/CAGE2-v0", 5.0 * n) for way in users.WAYS for n in (1, 20, 100)]
    stepped.append(row("pipes | 20 | garrison/CybORG-v0", 2.0))
    tables = users.compare({r["name"]: r for r in stepped})
    store(folder, "users", stepped, tables=tables, measured_on={"them": "their machine"})
    store(folder, "cluster", [row("2 nodes", 123.0)], command="garrison bench cluster --quick")
    curve = [{"step": 10, "seconds": 60.0, "total": -70.0}, {"step": 20, "seconds": 120.0, "total": -50.0}]
    score = {"total": -45.1, "ci95": 0.5, "rules": "leaderboard"}
    run = {
        "preset": "record",
        "seed": 0,
        "command": "garrison train record",
        "seconds": 120.0,
        "steps": 20,
        "variant": "",
    }
    (folder / "record.json").write_text(
        json.dumps({"machine": MACHINE, "runs": [run | {"curve": curve, "evaluation": score}]})
    )


def parse(html: str) -> ElementTree.Element:
    return ElementTree.fromstring(html.removeprefix("<!DOCTYPE html>\n"))


def test_every_result_is_shown_with_its_command_and_machine(tmp_path: Path) -> None:
    everything(tmp_path)
    html = page.build(tmp_path).html()
    root = parse(html)
    titles = [e.text for e in root.iter("h2")]
    assert titles == [title for title, _ in page.SECTIONS.values()] + ["Cluster", "Machine and method"]
    assert "a &lt;fast&gt; one" in html
    assert "garrison bench cluster --quick" in html
    assert "A quick look, not for publication: cluster ran" in html
    assert "ValueError: &lt;broken&gt;" in html
    assert len(list(root.iter("svg"))) >= 14
    assert "87%" in html
    assert "no data" not in html
    assert "CybORG itself on this machine" in html
    assert '<td>pipes</td><td class="right">20</td>' in html
    assert html.count(">50</td></tr>") == 1  # times: 100 of ours over 2 of CybORG's


def test_any_row_may_have_failed(tmp_path: Path) -> None:
    everything(tmp_path)
    for file in sorted(tmp_path.glob("*.json")):
        text = file.read_text()
        count = len(json.loads(text).get("results", ()))
        for gone in [*({k} for k in range(count)), set(range(count))]:
            result = json.loads(text)
            for k in gone:
                result["results"][k] = failed(result["results"][k]["name"])
            file.write_text(json.dumps(result))
            parse(page.build(tmp_path).html())
        file.write_text(text)


def test_the_same_files_give_the_same_bytes(tmp_path: Path) -> None:
    everything(tmp_path)
    first = page.write(tmp_path).read_bytes()
    assert page.write(tmp_path).read_bytes() == first


def test_an_unsteady_number_is_marked_and_never_a_headline(tmp_path: Path) -> None:
    everything(tmp_path)
    root = parse(page.build(tmp_path).html())
    headlines = next(iter(root.iter("table")))
    rows = [[cell.text for cell in line.iter("td")] for line in headlines.iter("tr")]
    assert ["sim", "garrison, batch of 10000, 2 threads", "unsteady"] in rows
    assert ["cluster", "2 nodes", "123 ± 1%"] in rows
    marked = [c.text for c in root.iter("td") if "doubtful" in (c.get("class") or "")]
    assert "7.5 M to 30 M" in marked
    assert all("1.01" not in (text or "") for text in marked)


def test_one_repeat_is_never_steady() -> None:
    assert not results.is_steady(row("x", factors=(1.0,)))
    assert results.brief(row("x", factors=(1.0,))) == results.rate(row("x", factors=(1.0,))) == "~1 k"


def test_ratios_carry_the_mark_of_either_side() -> None:
    calm, wild = row("a", 2000.0), row("b", 1000.0, WILD)
    assert results.over(calm, calm) == "1"
    assert results.over(calm, wild) == "~2"
    assert results.over(wild, calm) == "~0.5"
    assert results.share(wild, calm) == "~50%"
    assert results.share(calm, calm, 2) == "50%"


def test_a_wide_spread_is_shown_as_a_range() -> None:
    assert results.rate(row("x", 2000.0, WILD)) == "1 k to 4 k"
    assert results.rate(row("x", 2000.0)) == "2 k ± 1%"


def test_the_command_makes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    everything(tmp_path)
    assert cli.main(["bench", "page", str(tmp_path)]) == 0
    assert str(tmp_path / "index.html") in capsys.readouterr().out
    parse((tmp_path / "index.html").read_text())


@pytest.mark.parametrize(
    ("text", "said"), [("{", "not a result"), ("[]", "names no machine"), ('{"a": 1}', "no machine")]
)
def test_a_foreign_file_is_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "odd.json").write_text(text)
    with pytest.raises(UserError, match=f"odd.json.*{said}"):
        page.build(tmp_path)


def test_an_empty_folder_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "page", str(tmp_path)]) == 2
    assert "garrison bench all --out" in capsys.readouterr().err
