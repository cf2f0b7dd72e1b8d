"""The page of a folder of results: whatever is there is shown, what is not steady is marked and stands apart."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from garrison import cli
from garrison.bench.method.limit_rows import make_row
from garrison.bench.publish import bench_page, stored
from garrison.bench.publish.chart_parts import row_bars
from garrison.bench.suites import learning_runs, user_figures, user_tables
from garrison.errors import UserError
from garrison.report.page import Page, bars
from tests.helpers.bench_rows import CYBORG, MACHINE, SHAKY, STEADY, WILD, failed, row, store
from tests.helpers.scaling_rows import scaling_rows


def everything(folder: Path) -> None:
    def ours(**labels: Any) -> dict[str, Any]:
        return {"who": "garrison", **labels}

    batches = [row(ours(envs=n, threads=1), n * 1e3, batch_mb=0.1) for n in (1, 1000, 10_000)]
    threads = row(ours(envs=10_000, threads=2), 15e6, WILD, batch_mb=9.0)
    peers = [row({"who": "CybORG", "red": "meander"}, 500.0), failed({"who": "MiniCAGE", "envs": 1000})]
    store(folder, "sim", [*batches, threads, *peers], startup={"import_seconds": 0.1})
    engines = [row(ours(engine="jax", envs=n), n * 1e3, compile_seconds=2.0, recompiled=0.0) for n in (1, 4096)]
    store(folder, "sim-jax", [*engines, *(row(ours(envs=n, threads=1), n * 2e3) for n in (1, 4096))])
    ways = [{"who": "plain loop"}, {"who": "limit"}, ours(backend="serial"), ours(backend="shared")]
    ways.append({"who": "Gymnasium", "backend": "Async, shared memory"})
    places = [{"envs": n, "cost": cost} for n in (20, 200) for cost in ("free", "3 ms")]
    cells = [row(way | place, 10.0 * place["envs"]) for way in ways for place in places]
    store(folder, "vector-synthetic", cells)
    store(folder, "vector-limit", cells)
    classic = {"env": "CartPole-v1", "envs": 64}
    store(folder, "vector-classic", [row({"who": who, **classic}) for who in ("garrison", "limit")])
    scaling = [row(ours(backend="shared", workers=n), 900.0 * n, WILD if n == 2 else STEADY) for n in (1, 2)]
    store(folder, "vector-scaling", [row({"who": "plain loop"}), *scaling])
    store(folder, "scaling", scaling_rows(), left_out=["1,000,000 environments are left out."])
    store(folder, "scaling-cores", scaling_rows())
    trainers = [{"who": who, "hidden": 64} for who in ("CleanRL-style", "matrix products")]
    store(folder, "train", [row(ours(hidden=64), act=0.2, learn=0.8), *map(row, trainers)])
    in_jax = [ours(engine="jax", minibatch=512), {"who": "PureJaxRL-style", "minibatch": 512}]
    store(folder, "train-jax", [row(labels, compile_seconds=4.0) for labels in in_jax])
    learners = [
        row({"env": "native", "who": "garrison", "learner": "PPO", "epochs": 1}),
        row({"env": "uneven", "who": "limit"}),
        row({"env": "uneven", "who": "garrison", "learner": "IMPALA"}, 870.0),
    ]
    store(folder, "train-async", learners)
    stepped = [row(ours(way=way, envs=n), 5.0 * n) for way in user_tables.WAYS for n in (1, 20, 100)]
    stepped.append(row({"who": "CybORG", "way": "pipes", "envs": 20}, 2.0))
    tables = user_tables.compare(stepped, user_figures.FIGURES)
    store(folder, "users", stepped, tables=tables, measured_on={"them": "their machine"})
    coinrun = [{"who": "garrison", "learner": "PPO", "backend": "serial"}, {"who": "convolutions and products alone"}]
    tables = user_tables.compare([row(labels) for labels in coinrun], user_figures.COINRUN_FIGURES)
    rows = [row(labels, act=0.1, learn=0.9) for labels in coinrun]
    store(folder, "users-coinrun", rows, tables=tables, measured_on={"them": "their machine"})
    points = learning_runs.curve([(k, 1.0 * k) for k in range(1, 101)], 100)
    runs = [
        {"labels": {"env": "Pole", "who": who, "seed": seed}, "settings": {"steps": 100}, "curve": points}
        for who in learning_runs.SIDES
        for seed in (0, 1)
    ]
    (folder / "learning.json").write_text(json.dumps({"machine": MACHINE, "runs": runs}))
    store(folder, "cluster", [row(ours(nodes=2), 123.0)], command="garrison bench cluster --quick")
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
    parts = {"cells": [{"red": "bline", "mean": -20.1}, {"red": "bline", "mean": -1.0}, {"red": "sleep", "mean": 0.0}]}
    less = run | {"variant": "no history", "evaluation": score | parts | {"episodes": 100, "seed": 7}}
    (folder / "record-ablation.json").write_text(json.dumps({"machine": MACHINE, "runs": [less]}))
    unmet = {"rules": "head", "attacker": "a late one", "defender": "sleep", "value": -3.0, "margin": 0.1}
    (folder / "limit-unmet.json").write_text(json.dumps({"machine": MACHINE, "rows": [unmet]}))
    said = {"what": "a bound", "command": "garrison bench limit", "proven": True}
    bounds = [make_row("bound", (rules, "bline", 30), -3.5, 0.0, **said) for rules in ("leaderboard", "head")]
    (folder / "limit.json").write_text(json.dumps({"machine": MACHINE, "rows": bounds}))


def parse(html: str) -> ElementTree.Element:
    return ElementTree.fromstring(html.removeprefix("<!DOCTYPE html>\n"))


def test_every_result_is_shown_with_its_command_and_machine(tmp_path: Path) -> None:
    everything(tmp_path)
    html = bench_page.build_page(tmp_path).html()
    root = parse(html)
    titles = [e.text for e in root.iter("h2")]
    assert titles == [section.title for section in bench_page.SECTIONS.values()] + ["Cluster", "Machine and method"]
    assert "a &lt;fast&gt; one" in html
    assert "garrison bench cluster --quick" in html
    assert "A quick look, not for publication: cluster ran" in html
    assert "ValueError: &lt;broken&gt;" in html
    assert len(list(root.iter("svg"))) >= 14
    assert "87.0 ± 0.0%" in html
    assert "no data" not in html
    assert "CybORG itself on this machine" in html
    numbers = "".join(f'<td class="right">{number}</td>' for number in ("-45.10", "-45.10", "-45.10", "-21.10", "0.00"))
    assert f"<td><code>record</code>, no history</td>{numbers}" in html
    assert '<td>pipes</td><td class="right">20</td>' in html
    assert html.count(">50 ± 0.0%</td></tr>") == 1  # times: 100 of ours over 2 of CybORG's


def test_any_row_may_have_failed(tmp_path: Path) -> None:
    everything(tmp_path)
    for file in sorted(tmp_path.glob("*.json")):
        text = file.read_text()
        count = len(json.loads(text).get("results", ()))
        for gone in [*({k} for k in range(count)), set(range(count))]:
            result = json.loads(text)
            for k in gone:
                result["results"][k] = failed(result["results"][k]["labels"])
            file.write_text(json.dumps(result))
            html = bench_page.build_page(tmp_path).html()
            parse(html)
            assert f">{file.stem}" in html or "failed" in html, file.name
        file.write_text(text)


def test_the_same_files_give_the_same_bytes(tmp_path: Path) -> None:
    everything(tmp_path)
    first = bench_page.write_page(tmp_path).read_bytes()
    assert bench_page.write_page(tmp_path).read_bytes() == first


def test_an_unsteady_number_is_marked_and_stands_apart(tmp_path: Path) -> None:
    everything(tmp_path)
    root = parse(bench_page.build_page(tmp_path).html())
    apart = [t for t in root.iter("table") if "Not steady" in (t.findtext("caption") or "")]
    names = [line[0].text for table in apart for line in table.iter("tr")]
    assert "garrison, 10,000 environments, 2 threads" in names
    assert "garrison, 1,000 environments" not in names
    marked = [c.text for c in root.iter("td") if "doubtful" in (c.get("class") or "")]
    assert "7.5 M to 30 M" in marked
    assert "~" not in "".join(root.itertext())


def test_the_first_screen_has_every_claim_with_its_ratio_and_command(tmp_path: Path) -> None:
    ours = row({"who": "garrison", "envs": 10, "threads": 1}, 9e6, batch_mb=1.0)
    store(tmp_path, "sim", [ours, row(CYBORG, 500.0, SHAKY)])
    claims = next(iter(parse(bench_page.build_page(tmp_path).html()).iter("table")))
    cells = ["".join(cell.itertext()) for cell in claims.iter("td")]
    what = "simulator, 10 environments, beside CybORG"
    assert cells == [what, "garrison bench sim", "18,090 ± 9.5%", "9 M ± 1.0%", "450 to 550"]


def test_a_claim_whose_rows_failed_is_not_made(tmp_path: Path) -> None:
    store(tmp_path, "sim", [row({"who": "garrison", "envs": 10, "threads": 1}, 9e6, batch_mb=1.0), failed(CYBORG)])
    assert "beside CybORG" not in bench_page.build_page(tmp_path).html()


def test_a_row_is_as_steady_as_its_ratio(tmp_path: Path) -> None:
    ours = row({"who": "garrison", "envs": 1, "threads": 1}, 9e3, SHAKY, batch_mb=1.0)
    assert not stored.is_steady(ours)  # a file that names no partners: its own rate is all there is
    ours |= {"partner": CYBORG, "steady": True}
    assert stored.is_steady(ours)
    store(tmp_path, "sim", [ours, row(CYBORG, 500.0, SHAKY) | {"partner": None, "steady": True}])
    html = bench_page.build_page(tmp_path).html()
    assert "Not steady" not in html
    assert ">18 ± 0.0%<" in html  # a slow round of both
    assert ">CybORG, meander<" in html


def test_few_rounds_have_no_interval() -> None:
    few = row({"who": "x"}, 2000.0, WILD[:3])
    assert not stored.is_steady(row({"who": "x"}, factors=STEADY[:3]))
    assert (stored.rate(few), stored.rate_alone(few)) == ("1 k to 4 k", "1 k to 4 k in 3 rounds")
    assert stored.over(few, few) == "1 in 3 rounds"
    assert stored.rate_alone(row({"who": "x"}, factors=(1.0,))) == "1 k in 1 round"


def test_ratios_are_taken_inside_a_round() -> None:
    one, half = row({"who": "a"}, 2000.0, WILD), row({"who": "b"}, 1000.0, WILD)
    assert stored.over(one, half) == "2 ± 0.0%"
    assert stored.over(one, row({"who": "c"}, factors=(1.0,) * 6)) == "1 to 4"
    assert stored.share(half, one) == "50.0 ± 0.0%"
    assert stored.compared(half, one, times_base=2).share() == "25.0 ± 0.0%"
    assert stored.step_time(row({"who": "d"}, 1e6)) == "1 µs ± 1.0%"


def test_a_rate_is_written_with_its_interval_or_as_it() -> None:
    assert stored.rate(row({"who": "x"}, 2000.0)) == "2 k ± 1.0%"
    assert stored.rate(row({"who": "x"}, 2000.0, WILD)) == "1 k to 4 k"


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
        bench_page.build_page(tmp_path)


def test_an_empty_folder_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "page", str(tmp_path)]) == 2
    assert "garrison bench all --out" in capsys.readouterr().err


def test_rows_are_found_by_labels() -> None:
    rows = [row({"who": "garrison", "envs": n, "threads": t}) for n, t in ((10, 1), (20, 1), (20, 2))]
    rows.append(row({"who": "limit"}))
    assert stored.find(rows, who="garrison", envs=20, threads=2) is rows[2]
    assert stored.find(rows, who="garrison", envs=20) is None  # all labels, not some
    assert stored.select(rows, who="garrison", envs=20) == rows[1:3]
    assert stored.select(rows, envs=None) == rows[3:]
    assert stored.by(rows[:2], "envs") == {10: rows[0], 20: rows[1]}
    assert list(stored.groups(rows, "who", "threads")) == ["garrison", "garrison, 2 threads", "limit"]
    with pytest.raises(UserError, match="no measured row 'garrison, 30 environments'"):
        stored.need(rows, who="garrison", envs=30)


def test_a_result_of_an_older_version_says_so(tmp_path: Path) -> None:
    store(tmp_path, "sim", [{"name": "garrison, batch of 1000"}])
    with pytest.raises(UserError, match="no labels"):
        bench_page.build_page(tmp_path)


def test_a_chart_is_one_function_and_its_name_in_a_section(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fastest(page: Page, result: stored.StoredResult) -> None:
        rows = stored.measured(result)
        page.chart(bars([stored.short_name(r) for r in rows], [row_bars("steps/s", rows)]), "The fastest of all")

    everything(tmp_path)
    section = bench_page.SECTIONS["sim"]
    monkeypatch.setitem(bench_page.SECTIONS, "sim", section._replace(parts=(*section.parts, fastest)))
    monkeypatch.setitem(bench_page.SECTIONS, "cluster", bench_page.Section("Many nodes", (fastest,)))
    html = bench_page.build_page(tmp_path).html()
    assert html.count("The fastest of all") == 2
    assert "Many nodes" in html
