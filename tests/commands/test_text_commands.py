import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from garrison import cli
from garrison.cage2.names import HOSTS
from garrison.episodes import read_episodes
from tests.helpers.chat_players import careless, thoughtful
from tests.helpers.chat_server import chat_server, failed, one_after_the_other

SMALL = "--model m --length 4 --episodes 2 --baselines sleep,shield"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def test_a_model_plays_and_is_put_beside_itself_with_other_names(capsys: pytest.CaptureFixture[str]) -> None:
    with chat_server(careless) as server:
        for rename in ("", "roles"):
            words = f"text play --endpoint {server.url} {SMALL} --rename={rename} --price 1 2 --red bline,meander"
            assert cli.main(words.split()) == 0
            out = capsys.readouterr().out
            assert "m is " in out
            assert "16 turns: " in out
            assert ", cost 0.00" in out
    assert sorted(path.name for path in Path().iterdir()) == ["text-m", "text-m-roles"]
    assert {path.name for path in Path("text-m").iterdir()} == {
        *("settings.json", "transcript.jsonl", "results.json", "watch.html"),
    }
    assert len(read_episodes("text-m/watch.html")) == 4
    assert cli.main(["text", "compare", "text-m", "text-m-roles"]) == 0
    assert "text-m is" in capsys.readouterr().out
    assert cli.main(["text", "compare", "text-m", "text-m-roles", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["totals"].keys() == {"text-m", "text-m-roles"}
    assert cli.main(["text", "compare", "text-m"]) == 2
    assert cli.main(["text", "compare", "text-m", "nowhere"]) == 2


def test_json_is_all_that_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with chat_server(thoughtful) as server:
        assert (
            cli.main([*f"text play --endpoint {server.url} {SMALL} --json --body".split(), '{"temperature": 0}']) == 0
        )
        assert server.asked[0]["temperature"] == 0
    values = json.loads(capsys.readouterr().out)
    assert list(values["cells"][0]["agents"]) == ["m", "sleep", "shield"]


@pytest.mark.parametrize(
    ("flags", "code", "said"),
    [
        ("--endpoint nowhere", 2, "an endpoint is an address"),
        ("--body [1]", 2, "--body must be a JSON object"),
        ("--body {", 2, "--body is no JSON"),
        ("--budget 3", 2, "a budget needs the price"),
        ("--rename netral", 2, "did you mean 'neutral'"),
        ("--view tabel", 2, "did you mean 'table'"),
        ("--prompt none.txt", 2, "cannot read none.txt"),
        ("--chances 0", 2, "chances"),
        ("--fallback hide", 2, "names no action"),
        ("--baselines slep", 2, "did you mean 'sleep'"),
    ],
)
def test_a_wrong_setting_is_a_sentence(flags: str, code: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with chat_server(thoughtful) as server:
        assert cli.main(f"text play --endpoint {server.url} {SMALL} {flags}".split()) == code
        assert server.asked == []
    assert said in capsys.readouterr().err
    assert list(Path().iterdir()) == []


def test_an_endpoint_that_fails_is_a_sentence_and_the_same_command_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    with chat_server(one_after_the_other([failed(401, "no such key")])) as server:
        words = f"text play --endpoint {server.url} {SMALL}".split()
        assert cli.main(words) == 1
        assert "HTTP 401, no such key. Put the key into the environment variable" in capsys.readouterr().err
        server.script = thoughtful
        assert cli.main(words) == 0


def test_what_a_model_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["text", "show", "--turns", "2", "--red", "bline"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("--- instructions (")
    assert "--- tool (" in out
    assert "\n--- turn 2 (" in out
    words = "--json --answer text --view json --rename neutral:3 --agent shield"
    assert cli.main(["text", "show", *words.split()]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert list(shown) == ["instructions", "turn 1", "turn 2", "turn 3"]
    assert json.loads(shown["turn 3"])["turn"] == 3
    assert not any(host in text for host in HOSTS for text in shown.values())
    Path("mine.txt").write_text("You are the shield of Op_Server0. {answer}")
    assert cli.main(["text", "show", "--prompt", "mine.txt"]) == 0
    assert "the shield of Op_Server0. Answer with" in capsys.readouterr().out
    assert cli.main(["text", "show", "--prompt", "mine.txt", "--rename", "roles"]) == 2
    assert "hosts are renamed" in capsys.readouterr().err


def test_the_table_of_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["text"]) == 0
    assert "garrison text NAME" in capsys.readouterr().out
    assert cli.main(["text", "plya"]) == 2
    assert "did you mean 'play'" in capsys.readouterr().err


@pytest.mark.long
def test_ctrl_c_ends_at_once_and_the_same_command_goes_on(tmp_path: Path) -> None:
    answered, hanging, both_hang = iter(range(3)), iter(range(1)), threading.Event()

    def script(asked: dict[str, Any]) -> dict[str, Any] | str:
        if next(answered, None) is not None:
            return thoughtful(asked)
        if next(hanging, None) is None:
            both_hang.set()
        return "hang"

    with chat_server(script) as server:
        words = [sys.executable, "-m", "garrison", *f"text play --endpoint {server.url} {SMALL} --timeout 600".split()]
        process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=os.environ | {"no_proxy": "*"})
        with process:
            assert both_hang.wait(120)
            process.send_signal(signal.SIGINT)
            assert process.stderr is not None
            assert process.stderr.read() == "garrison text: interrupted\n"
            assert process.wait() == 130
        assert len(Path("text-m/transcript.jsonl").read_text().splitlines()) == 3
        server.script = thoughtful
        assert cli.main(words[3:]) == 0
        assert len(Path("text-m/transcript.jsonl").read_text().splitlines()) == 8
