"""Recorded CybORG episodes replay without a single difference, and differences are noticed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from garrison import cli
from garrison.cage2.traces import load_trace
from garrison.challenge.conformance import RECORDINGS, replay, seeded_envs
from garrison.errors import UserError

FILES = sorted([*Path(__file__).parent.glob("*.npz"), *RECORDINGS.glob("*.npz")], key=lambda file: file.name)


def test_the_recordings_cover_every_attacker_rule_set_and_length() -> None:
    covered = {(trace.rules, trace.red, trace.length) for trace in map(load_trace, FILES)}
    lengths = [30, 50, 100]
    expected = {(rules, red, n) for rules in ("head", "leaderboard") for red in ("bline", "meander") for n in lengths}
    expected |= {("head", "sleep", n) for n in lengths} | {("leaderboard", "sleep", 50), ("head", "random", 80)}
    assert covered == expected
    policies = {int(p) for file in FILES if "random" not in file.stem for p in load_trace(file).arrays["policy"]}
    assert policies == set(range(10))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_recording_replays_without_a_difference(file: Path) -> None:
    report = replay(load_trace(file))
    assert report.steps > 0
    assert report.mismatches == {}, str(report.first)


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_recording_follows_from_its_seeds_alone(file: Path) -> None:
    trace = load_trace(file)
    report = replay(trace, seeded_envs, trace.seeds())
    assert report.steps > 0
    assert report.mismatches == {}, str(report.first)


@pytest.mark.slow
@pytest.mark.parametrize(
    "field",
    [
        "obs",
        "obs_cw2",
        "reward",
        "done",
        "red_type",
        "red_target",
        "red_success",
        "red_exploit",
        "blue_success",
        "access_any",
        "access_first",
        "n_sessions",
        "n_hidden",
        "malware",
        "decoys",
        "ports",
        "red_ports",
        "red_known_ip",
        "red_known_host",
        "red_known_subnet",
        "ot",
        "red_internal",
    ],
)
def test_one_changed_value_is_one_mismatch(field: str) -> None:
    trace = load_trace(FILES[0])
    values = trace.arrays[field].copy()
    values[2, 7] = ~values[2, 7] if values.dtype == bool else values[2, 7] + 1
    trace.arrays[field] = values
    report = replay(trace)
    # The two encoders are two replays; only their own observations are compared in one of them.
    assert report.mismatches == {field: 1 if field.startswith("obs") else 2}
    assert report.first is not None
    assert (report.first.episode, report.first.field) == (2, field)
    assert report.first.step == (8 if values.shape[1] == trace.length else 7)


def test_the_command_reports_and_exits_0_or_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["conformance", str(FILES[0])]) == 0
    assert "both encoders: 0 mismatches" in capsys.readouterr().out
    arrays = dict(np.load(FILES[0]))
    arrays["reward"][3, 4] -= 1
    np.savez(tmp_path / "changed.npz", **arrays)
    assert cli.main(["conformance", str(FILES[0]), str(tmp_path / "changed.npz")]) == 1
    out = capsys.readouterr().out
    assert "changed.npz, episode 3, step 5, reward" in out
    assert "step 5: Blue" in out


def test_a_foreign_or_broken_trace_gets_one_clear_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = FILES[0].read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.npz").write_text("hello")
    (tmp_path / "empty.npz").write_bytes(b"")
    np.savez(tmp_path / "foreign.npz", x=np.zeros(3))
    arrays = dict(np.load(FILES[0]))
    np.savez(tmp_path / "short.npz", **{**arrays, "obs": arrays["obs"][:, :-1]})
    np.savez(tmp_path / "pickle.npz", meta=np.array([{"a": 1}], dtype=object))
    for name, expected in {
        "cut": "not a trace",
        "text": "not a trace",
        "empty": "not a trace",
        "foreign": "it has no",
        "short": "obs is int8",
        "pickle": "not a trace",
        "missing": "cannot read",
    }.items():
        assert cli.main(["conformance", str(tmp_path / f"{name}.npz")]) == 2, name
        error = capsys.readouterr().err
        assert expected in error, name
        assert error.count("\n") == 1, error


def test_an_action_outside_the_table_is_named(tmp_path: Path) -> None:
    arrays = dict(np.load(FILES[0]))
    np.savez(tmp_path / "wild.npz", **{**arrays, "action": arrays["action"] + 140})
    with pytest.raises(UserError, match=r"action must be whole numbers in 0\.\.144"):
        load_trace(tmp_path / "wild.npz")


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("d_bline_target", lambda a: a + 99, r"d_bline_target must be whole numbers in -1\.\.12"),
        ("d_addr_order", lambda a: a.astype(float), "d_addr_order must be whole numbers"),
        ("d_esc_idx", lambda a: a.astype(np.int64) * 10**9 - 5, "d_esc_idx must be whole numbers"),
        ("red_type", lambda a: -1 - a, "red_type must be whole numbers"),
        ("red_target", lambda a: a.astype(np.int64) + 2**40, "red_target must be whole numbers"),
        ("tape_off", lambda a: a[:, ::-1], "tape_off points elsewhere"),
        ("tape_off", lambda a: a.astype(float) * np.nan, "tape_off points elsewhere"),
        ("tape_site", lambda a: a[:-1], "tape_site and tape_out must be two lists"),
        ("tape_out", lambda a: np.array(7), "tape_site and tape_out must be two lists"),
        ("tape_out", lambda a: a.astype(str), "tape_site and tape_out must be two lists"),
        ("decoys", lambda a: a[:, :, :4], "decoys is"),
        ("action", lambda a: a[:0], "holds no episodes"),
        ("meta", lambda a: np.array("rules=head"), "it has no length, red"),
        ("meta", lambda a: np.array(["rules=head", "red=bline", "length=9999999"]), "length '9999999'"),
    ],
)
def test_what_a_replay_acts_on_is_checked_before(name: str, change: Any, message: str, tmp_path: Path) -> None:
    arrays = dict(np.load(FILES[0]))
    np.savez(tmp_path / "wild.npz", **{**arrays, name: change(arrays[name])})
    with pytest.raises(UserError, match=message):
        load_trace(tmp_path / "wild.npz")


@pytest.mark.parametrize("name", ["d_bline_target", "d_addr_order", "d_host_order", "d_exploit_other", "d_esc_idx"])
@pytest.mark.parametrize(
    ("stem", "needed"), [("head_bline_30", "d_bline_target"), ("leaderboard_meander_30", "d_addr_order")]
)
def test_a_tape_without_its_draws_is_a_mismatch_and_no_crash(name: str, stem: str, needed: str) -> None:
    trace = load_trace(RECORDINGS / f"{stem}.npz")
    trace.arrays[name] = np.full_like(trace.arrays[name], -1)
    found = replay(trace)
    assert found.episodes == trace.episodes
    assert found.total > 0 or name != needed  # the others are often the only choice there is
