import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from garrison.errors import UserError
from garrison.text.transcripts import PlayedTurn, Transcript
from tests.helpers.mutations import mutated

TURN = PlayedTurn(
    "meander", 30, 0, 1, 132, "Restore Defender", -1.0, "→ é\n", ["no"], False, [{"role": "user"}], [1, 2, 3, 4], 0.5
)


def test_lines_are_read_as_they_were_written(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path / "t.jsonl")
    assert transcript.open() == {}
    turns = [replace(TURN, turn=1), replace(TURN, episode=1), replace(TURN, turn=2, said="")]
    for turn in turns:
        transcript.add(turn)
    assert transcript.read() == {("meander", 30, 0): [turns[0], turns[2]], ("meander", 30, 1): [turns[1]]}
    assert len((tmp_path / "t.jsonl").read_bytes().splitlines()) == 3


def test_half_a_line_of_a_killed_process_is_cut_off(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path / "t.jsonl")
    transcript.add(TURN)
    whole = transcript.path.read_bytes()
    second = replace(TURN, turn=2)
    for cut in (1, 40, len(whole) - 1):
        transcript.path.write_bytes(whole + whole[:cut])
        assert len(transcript.read()["meander", 30, 0]) == 1
        transcript.open()
        transcript.add(second)
        assert transcript.read()["meander", 30, 0] == [TURN, second]


def test_damaged_lines_are_named(tmp_path: Path) -> None:
    transcript, random = Transcript(tmp_path / "t.jsonl"), Random(1)
    transcript.add(TURN)
    good = transcript.path.read_bytes()
    values, refused = json.loads(good), 0
    for _ in range(100):
        _, wild = mutated(values, random)
        transcript.path.write_text(json.dumps(wild) + "\n")
        try:
            transcript.read()
        except UserError:
            refused += 1
    assert refused > 50
    for bad in (
        b"\xff\n",
        b"[]\n",
        b"{\n",
        b"\n",
        b"[" * 5000 + b"\n",
        good + good,
        good.replace(b'"turn":1', b'"turn":2'),
    ):
        transcript.path.write_bytes(bad)
        with pytest.raises(UserError, match=r"line [12], is no turn"):
            transcript.read()
