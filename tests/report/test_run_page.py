"""A run's page says what the run's files say, whatever state the run is in, and cannot be broken by a name."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from garrison.report.history import RunHistory
from garrison.report.run_page import ROWS, rewrite_run_page, run_page, write_run_page
from garrison.report.run_state import KILLED, RUNNING, RunState, state_of
from garrison.runs import marks
from garrison.storage.lock import only_writer
from tests.helpers.written_runs import official_score, write_run

HOSTILE = "<img src=x onerror=alert(1)>"


def html_of(path: Path) -> str:
    return rewrite_run_page(path).read_text()


def parsed(html: str) -> ElementTree.Element:
    return ElementTree.fromstring(html.removeprefix("<!DOCTYPE html>\n"))


def text_of(html: str) -> str:
    return " ".join(" ".join(parsed(html).itertext()).split())


def test_an_ended_run_shows_its_score_and_everything_that_led_to_it(tmp_path: Path) -> None:
    html = html_of(write_run(tmp_path / "mine", **official_score()))
    text = text_of(html)
    assert "-123.40 ± 1.50" in text
    assert "finished" in text
    for section in ("Learning", "Score", "Losses", "Actions", "Time", "What happened", "Settings", "Made with"):
        assert f">{section}</h2>" in html
    assert "ppo on garrison/CAGE2-v0, against bline, rules leaderboard, 16 environments, 20 k steps, seed 0" in text
    assert "the winner: -3.57" not in text  # only under the pointer
    assert 'title="the winner: ' in html
    assert "garrison train 'a b'" in text
    assert "learner.learning_rate 0.001" in text
    assert 'href="./config.yaml"' in html
    assert "the winner -13.8" in text  # beside the curve: the same attacker, length and rules
    assert "place 16 of the challenge's final table" in text
    names = [svg.findtext("title") for svg in parsed(html).iter("svg")]
    assert all(names)
    assert {"Policy loss", "actions while training", "time split", "official total during training"} <= set(names)


def test_marks_are_drawn_where_they_happened(tmp_path: Path) -> None:
    path = write_run(tmp_path / "mine")
    marks.add_mark(path, marks.RESUMED, 10_000, 20.0)
    marks.add_mark(path, marks.BEST, 15_000, 30.0, "-885.00")
    html = html_of(path)
    lines = [e for e in parsed(html).iter("line") if (e.get("class") or "").startswith("mark")]
    told = {(e.findtext("title"), e.get("class")) for e in lines}
    assert told == {("resumed: 10 k", "mark"), ("best: 15 k", "mark"), ("checkpoint: 20 k", "mark tick")}
    assert "best score so far: -885.00" in text_of(html)


def test_a_page_is_live_only_while_its_run_is(tmp_path: Path) -> None:
    path = write_run(tmp_path / "mine", status="")
    live = write_run_page(path, 7.0).read_text()
    assert ">running<" in live
    assert 'data-every="7.0" data-patience="81.0"' in live
    assert live.count("<script>") == 1
    assert "if it is old, the run was stopped" in live
    assert '<progress max="100" value="100.0"' in live
    (path / "summary.json").write_text(json.dumps({"status": "finished", "ended": marks.now()}))
    assert "being scored" in write_run_page(path, 7.0).read_text()
    over = write_run_page(path, None).read_text()
    assert "<script" not in over
    assert "data-every" not in over
    assert "refresh" not in over
    assert ">finished<" in over


def test_a_run_without_an_update_has_a_page_and_more_patience(tmp_path: Path) -> None:
    path = write_run(tmp_path / "mine", status="")
    (path / "metrics.jsonl").unlink()
    html = write_run_page(path, 5.0).read_text()
    assert "There is no update yet" in html
    assert 'data-patience="315.0"' in html


def test_the_state_follows_from_lock_summary_and_marks(tmp_path: Path) -> None:
    path = write_run(tmp_path / "mine", status="interrupted")
    assert state_of(RunHistory.glance(path, 10)).word == "interrupted"
    with only_writer(path, ""):
        assert state_of(RunHistory.glance(path, 10)).word == RUNNING
    summary = json.loads((path / "summary.json").read_text())
    (path / "summary.json").write_text(json.dumps(summary | {"ended": "2020-01-01T00:00:00+00:00"}))
    state = state_of(RunHistory.glance(path, 10))  # resumed since, and killed before it could say so
    assert state.word == KILLED
    assert f"--resume {path}" in state.text
    (path / ".lock").write_text("left behind")
    assert state_of(RunHistory.glance(path, 10)).word == KILLED


def test_a_failed_run_says_why(tmp_path: Path) -> None:
    text = text_of(html_of(write_run(tmp_path / "mine", status="failed", message="EnvFailed: it <broke>")))
    assert "EnvFailed: it <broke>" in text


@pytest.mark.parametrize("missing", ["config.yaml", "metrics.jsonl", "summary.json", "versions.json", "marks.jsonl"])
def test_runs_of_older_versions_and_damaged_ones_have_a_page(missing: str, tmp_path: Path) -> None:
    path = write_run(tmp_path / "mine", **official_score())
    (path / missing).unlink()
    assert "Made with" in html_of(path)
    (path / missing).write_bytes(b"\xff{")
    assert "Made with" in html_of(path)


def test_what_is_damaged_is_told(tmp_path: Path) -> None:
    path = write_run(tmp_path / "mine")
    (path / "summary.json").write_text("{")
    assert f"{path / 'summary.json'} is damaged" in text_of(html_of(path))


def test_a_hostile_name_is_shown(tmp_path: Path) -> None:
    path = write_run(tmp_path / HOSTILE, env=HOSTILE, message=HOSTILE, status="failed")
    marks.add_mark(path, marks.SAID, 0, 0.0, HOSTILE)
    root = parsed(html_of(path))
    assert not [e for e in root.iter() if e.tag in ("img", "script") or any(a.startswith("on") for a in e.attrib)]
    assert (root.findtext("body/header/h1") or "").strip() == HOSTILE


def test_several_agents_are_a_band_and_a_table(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", **official_score(-110.0))
    for seed, slope in ((0, 10.0), (2, 14.0), (10, 12.0)):
        write_run(run / f"seed-{seed}", seed=seed, slope=slope, **official_score(-100.0 - seed))
        rewrite_run_page(run / f"seed-{seed}")
    html = html_of(run)
    assert '<polygon class="band"' in html
    assert "the mean of 3 agents, the band its 95 % interval over agents" in html
    assert re.findall(r'href="./(seed-\d+)/index.html"', html) == ["seed-0", "seed-2", "seed-10"]
    assert "Mean of 3 agents -104.00 ± 13.15" in html
    agent = (run / "seed-2" / "index.html").read_text()
    assert ">run, seed-2 <" in agent
    assert 'href="./../index.html"' in agent


def test_an_environment_of_another_kind_and_workflows_are_shown(tmp_path: Path) -> None:
    score = {"mean": 480.5, "ci95": 3.25, "episodes": 32, "lowest": 1.0, "highest": 500.0}
    text = text_of(html_of(write_run(tmp_path / "cart", env="CartPole-v1", evaluation=score)))
    assert "480.50 ± 3.25 mean return, scored" in text or "mean return, scored 480.50 ± 3.25" in text
    assert "highest return 500.00" in text
    scores = [{"order": 0, "reward": -5.0, "reward_ci95": 0.5, "compliance": 0.97}]
    text = text_of(html_of(write_run(tmp_path / "flow", scores=scores)))
    assert "defender → enterprise → op_server → op_host → user -5.00 ± 0.50 0.970" in text


def test_a_long_run_is_sampled_and_keeps_every_score(tmp_path: Path) -> None:
    path = write_run(tmp_path / "long", updates=5000)
    run = RunHistory.glance(path, ROWS)
    assert run.updates == 5000
    assert run.steps == 5_000_000
    assert len(run.series("evaluation/total")[0]) == 1000
    assert ROWS <= len(run.rows) <= ROWS + 1000
    assert run.series("rollout/ep_reward_mean")[2][0] == -690.0
    page = run_page(run, RunState(RUNNING, ""), 0.0, 5.0)
    assert len(page.html()) < 400_000


def test_watched_episodes_are_linked(tmp_path: Path) -> None:
    path = write_run(tmp_path / "mine")
    assert "watch.html" not in html_of(path)
    (path / "watch.html").write_text("<p>episodes</p>")
    assert 'href="./watch.html"' in html_of(path)
