"""`garrison cyborg`: scripts run as Python runs them, shells are prepared, and what is missing is listed."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from garrison import cli
from tests.helpers.cyborg_scripts import garrison_cyborg, lines_of, run_script


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep apart from what other scripts write beside the package; none of these compiles a kernel."""
    monkeypatch.setenv("GARRISON_CACHE_DIR", str(tmp_path / "cache"))


def test_arguments_exit_code_and_folders_are_as_with_python(tmp_path: Path) -> None:
    script = "import sys\nprint(sys.argv[1:], sys.path[0], __name__)\nprint('bad', file=sys.stderr)\nsys.exit(7)\n"
    (tmp_path / "script.py").write_text(script)
    done = garrison_cyborg("run", "--rules", "leaderboard", str(tmp_path / "script.py"), "--rules", "x", "-h")
    assert done.returncode == 7
    assert done.stdout == f"['--rules', 'x', '-h'] {tmp_path} __main__\n"
    assert done.stderr == "bad\n"


def test_a_traceback_is_the_scripts_own(tmp_path: Path) -> None:
    theirs = run_script(tmp_path, "def f():\n    raise KeyError('x')\nf()\n")
    plain = subprocess.run([sys.executable, str(tmp_path / "script.py")], capture_output=True, text=True, check=False)
    assert (theirs.returncode, theirs.stderr) == (plain.returncode, plain.stderr)


def test_modules_and_code_run_too(tmp_path: Path) -> None:
    (tmp_path / "some_module.py").write_text("import sys; print(sys.argv[1:])")
    assert garrison_cyborg("run", "-m", "some_module", "a", cwd=tmp_path).stdout == "['a']\n"
    assert garrison_cyborg("run", "-c", "print(3)").stdout == "3\n"


def test_every_process_finds_our_package_first(tmp_path: Path) -> None:
    (tmp_path / "CybORG").mkdir()
    (tmp_path / "CybORG" / "__init__.py").write_text("print('theirs')")
    code = "from importlib.util import find_spec; import os; print(find_spec('CybORG').origin, os.environ['{}'])"
    code = code.format("GARRISON_CYBORG_RULES")
    script = f"""
    import multiprocessing, subprocess, sys
    sys.path.insert(0, {str(tmp_path)!r})
    code = {code!r}
    def work():
        exec(code)
    if __name__ == "__main__":
        exec(code, {{}})
        sys.stdout.flush()
        subprocess.run([sys.executable, "-c", code], cwd={str(tmp_path)!r}, check=True)
        process = multiprocessing.get_context("spawn").Process(target=work)
        process.start()
        process.join()
    """
    places = lines_of(tmp_path, script, "--rules", "leaderboard")
    assert len(places) == 3
    assert len(set(places)) == 1
    place, rules = places[0].split()
    assert Path(place).is_relative_to(tmp_path / "cache")
    assert rules == "leaderboard"


def test_another_sitecustomize_still_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text("print('own start')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "own"))
    # In our own process, then in the script's.
    assert sorted(garrison_cyborg("run", "-c", "print('code')").stdout.split("\n")[:-1]) == ["code", *["own start"] * 2]


def test_results_beside_the_package_are_named(tmp_path: Path) -> None:
    script = """
    from importlib.util import find_spec
    from pathlib import Path
    Path(find_spec("CybORG").origin).with_name("Evaluation").joinpath("result.txt").write_text("1")
    """
    done = run_script(tmp_path, script)
    first, second = done.stderr.splitlines()
    assert first == "garrison cyborg run: written beside the package"
    assert Path(second.strip()).read_text() == "1"
    assert run_script(tmp_path, "").stderr == ""


def test_a_request_to_end_reaches_the_script(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(5))\nprint('ready', flush=True)\n"
        "while True: signal.pause()\n"
    )
    command = [sys.executable, "-m", "garrison", "cyborg", "run", str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.terminate()
        try:
            assert process.wait(60) == 5
        finally:
            process.kill()


def test_a_shell_is_prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GARRISON_CACHE_DIR", str(tmp_path / "a cache; with 'signs'"))
    lines = garrison_cyborg("env", "--rules", "leaderboard", "--api", "gymnasium").stdout
    asked = 'printf "%s\\n" "$PYTHONPATH" "$GARRISON_CYBORG_RULES" "$GARRISON_CYBORG_API"'
    done = subprocess.run(["sh", "-c", f"{lines}\n{asked}"], capture_output=True, text=True, check=True)
    places, rules, api = done.stdout.splitlines()
    assert (Path(places.split(os.pathsep)[0]) / "CybORG" / "__init__.py").is_file()
    assert (rules, api) == ("leaderboard", "gymnasium")
    assert all(shlex.split(line)[0] == "export" for line in lines.splitlines())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run"], "there is no script to run. Name one: garrison cyborg run evaluation.py"),
        (["run", "nowhere.py"], "there is no script nowhere.py. Check its name and the folder that you are in."),
        (["run", "."], ". is a folder, not a script. Name the file to run."),
        (["run", "-m"], "-m needs something to run. It means what it means to Python."),
        (["run", "--rules", "haed", "script.py"], "unknown rules 'haed'; did you mean 'head'?"),
        (["env", "--api", "gymnasum"], "unknown api 'gymnasum'; did you mean 'gymnasium'?"),
        (["check", "nowhere.py"], "there is no script nowhere.py. Name the file that you would run."),
        (["runn", "script.py"], "unknown cyborg command 'runn'; did you mean 'run'?"),
    ],
)
def test_bad_input_is_answered_in_a_sentence(
    arguments: list[str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.py").write_text("")
    assert cli.main(["cyborg", *arguments]) == 2
    assert capfd.readouterr().err == f"garrison cyborg: {sentence}\n"


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["cyborg"]) == 0
    assert {"run", "env", "check"} <= set(capsys.readouterr().out.split())


@pytest.mark.slow
def test_check_lists_what_a_script_uses_without_running_it(tmp_path: Path) -> None:
    (tmp_path / "CybORG" / "Agents").mkdir(parents=True)
    (tmp_path / "CybORG" / "Agents" / "mine.py").write_text("from CybORG.Simulator.Host import Host")
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "wrapper.py").write_text(
        "from CybORG.Agents.Wrappers import BaseWrapper\n"
        "class Own(BaseWrapper):\n"
        "    def reset(self, agent=None):\n"
        "        self.mine = 1\n"
        "        self.env.step()\n"
        "        return self.mine, self.observation_change(None)\n"
    )
    (tmp_path / "script.py").write_text(
        "import CybORG.Shared.Enums as E\n"
        "from CybORG import CybORG\n"
        "from CybORG.Agents.mine import Mine\n"
        "from parts.wrapper import Own\n"
        "raise RuntimeError('run')\n"
        "core = CybORG('Scenario1b.yaml', 'sim')\n"
        "core.environment_controller.state\n"
        "core.step().reward\n"
        "core.get_attr(unknown), core.get_attr('get_rewards')\n"
        "lambda anything: (anything.get_last_action('Red'), anything.environment_controller.step_count)\n"
        "E.SessionType.SSH, E.Nonsense\n"
        "from CybORG.Agents import KeyboardAgent, NobodyAgent\n"
    )
    done = garrison_cyborg("check", "script.py", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    marks: dict[str, set[str]] = {}
    for line in done.stdout.splitlines()[:-1]:
        if not line.startswith(" "):
            marks[mark := line.split()[0].rstrip(":")] = set()
        else:
            marks[mark].add(line.split("  ")[1])
    assert marks["there"] >= {"CybORG.CybORG", "CybORG.step", "SessionType.SSH", "CybORG.Agents.KeyboardAgent"}
    assert marks["there"] >= {".get_attr('get_rewards')", ".get_last_action"}
    assert marks["there"] >= {"BaseWrapper.observation_change", "CybORG.Agents.Wrappers.BaseWrapper"}
    assert marks["your"] == {"CybORG.Agents.mine.Mine"}
    assert marks["unknown"] == {"CybORG.Shared.Enums.Nonsense", ".get_attr(...)", "CybORG.Agents.NobodyAgent"}
    assert marks["missing"] == {
        "CybORG.Simulator.Host.Host",
        "environment_controller.state",
        "environment_controller.step_count",
        "scenario file Scenario1b.yaml",
    }
    assert done.stdout.splitlines()[-1] == "3 files read; 4 missing"
    (tmp_path / "fine.py").write_text("from CybORG.Agents import B_lineAgent")
    assert garrison_cyborg("check", "fine.py", cwd=tmp_path).returncode == 0
