"""Every command with wild arguments and damaged files: a result or a sentence, never a traceback. The seed is fixed."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from garrison import cli
from garrison.bench.publish.documents import FOLDER, PLACES
from garrison.challenge.conformance import RECORDINGS
from tests.helpers.mutations import mutated

pytestmark = pytest.mark.long

TINY = "--envs 2 --rollout 8 --hidden 8 --no-tensorboard --quiet"
NUMBERS = ("99999999999999999999999", "-1", "0", "nan", "inf", "1e400", "", "x", "9" * 5000)
ENDS = {0, 1, 2}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "run"
    assert cli.main(f"train ppo-cartpole --steps 64 --out {out} {TINY}".split()) == 0
    return out


def outcome(arguments: list[str]) -> int:
    """Run a command as a shell would; a parser that ends the process counts as its exit code."""
    try:
        return cli.main(arguments)
    except SystemExit as end:
        return int(end.code or 0)


def check(arguments: list[str], why: str, capfd: pytest.CaptureFixture[str]) -> None:
    try:
        code = outcome(arguments)
    except Exception as error:
        raise AssertionError(f"garrison {' '.join(arguments)[:300]} with {why}: {error!r}") from error
    said = capfd.readouterr()
    assert code in ENDS, why
    assert "Traceback" not in said.err, why


def rewrite_json(path: Path, random: Random) -> str:
    what, values = mutated(json.loads(path.read_text()), random)
    path.write_text(json.dumps(values))
    return what


def rewrite_row(path: Path, random: Random) -> str:
    lines = path.read_text().splitlines()
    place = random.randrange(len(lines))
    what, row = mutated(json.loads(lines[place]), random)
    lines[place] = json.dumps(row)
    path.write_text("\n".join(lines) + "\n")
    return f"line {place}, {what}"


def replaced_by(text: str) -> Callable[[Path, Random], str]:
    def write(path: Path, random: Random) -> str:
        path.write_text(text)
        return repr(text[:20])

    return write


def torn(path: Path, random: Random) -> str:
    content = path.read_bytes()
    path.write_bytes(content[: random.randrange(len(content))])
    return "torn"


def not_text(path: Path, random: Random) -> str:
    path.write_bytes(bytes(random.randrange(256) for _ in range(99)))
    return "bytes"


def a_folder(path: Path, random: Random) -> str:
    path.unlink()
    path.mkdir()
    return "a folder"


DAMAGES: list[Callable[[Path, Random], str]] = [
    torn,
    not_text,
    a_folder,
    replaced_by(""),
    replaced_by("[]"),
    replaced_by("[1, 2]\n[3]"),
    replaced_by('"text"'),
    replaced_by("[" * 3000),
    replaced_by("9" * 5000),
    replaced_by('{"step": null}'),
]


def test_damaged_folders_of_runs(run: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    random = Random(14)
    cases: list[tuple[str, Callable[[Path, Random], str]]] = [
        (name, damage) for name in ("metrics.jsonl", "summary.json", "config.yaml") for damage in DAMAGES
    ]
    cases += [("summary.json", rewrite_json)] * 40 + [("metrics.jsonl", rewrite_row)] * 25
    for number, (name, damage) in enumerate(cases):
        copy = tmp_path / f"run{number}"
        shutil.copytree(run, copy)
        why = f"{name}: {damage(copy / name, random)}"
        check(["compare", str(copy), str(run), "--out", str(tmp_path / "out")], why, capfd)
        if number % 4 == 0:  # drawing takes its time
            check(["plot", str(copy), "--out", str(tmp_path / "out")], why, capfd)
        if name == "config.yaml":
            check(["train", "--resume", str(copy), "--steps", "64"], why, capfd)


SETTINGS: dict[str, Any] = {
    "env": {
        "env": "CartPole-v1",
        "envs": 2,
        "backend": "serial",
        "workers": 0,
        "env_args": {"sutton_barto_reward": True},
    },
    "run": {"checkpoint_every": 1.0, "tensorboard": False, "evaluate_episodes": 0, "duration": ""},
    "ppo": {"steps": 16, "rollout": 8, "minibatches": 2, "epochs": 1, "gamma": 0.9, "policy": {"hidden": [8]}},
}
FILES = (
    "env: {envs: " + "9" * 5000 + "}",
    "env: {envs: 0x" + "f" * 5000 + "}",
    "ppo: {gamma: " + "9" * 400 + "}",
    "[" * 3000,
    "{a: " * 3000,
    "&a [*a]",
    "env: &a {env_args: *a}",
    "!!python/object/apply:os.system [true]",
    "env: 2020-99-99",
    "? [1, 2]\n: 3",
    "env: {env: CartPole-v1, backend: serial, envs: 2, env_args: {no_such: 1}}",
    "env: {env: CartPole-v1, backend: serial, envs: 2, env_args: {1: 2}}",
    "env: {env: CartPole-v1, backend: serial, envs: 2, env_args: {num_envs: 2}}",
    "env: {env: CartPole-v1, backend: shared, envs: 2, env_args: {no_such: 1}}",
    "env: {env: 'os:getcwd', backend: serial, envs: 2}",
    "env: {env: 'no.such:Env', backend: serial, envs: 2}",
    "env: {env: 'json:', backend: serial, envs: 2}",
)


def test_wild_files_of_settings(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    random = Random(15)
    file = tmp_path / "mine.yaml"
    for number, text in enumerate(FILES):
        file.write_text(text)
        check(["train", str(file), "--quiet", "--out", str(tmp_path / f"f{number}")], text[:80], capfd)
        check(["race", str(file), "--out", str(tmp_path / "r")], text[:80], capfd)  # no duration: nothing is trained
    for number in range(60):
        what, values = mutated(SETTINGS, random)
        values.setdefault("ppo", {})
        if isinstance(values["ppo"], dict):
            values["ppo"]["compute"] = "none"  # refused after everything else was read
        file.write_text(json.dumps(values))
        check(["train", str(file), "--quiet", "--out", str(tmp_path / f"m{number}")], what, capfd)


WILD_FLAGS: dict[str, tuple[str, ...]] = {
    "train ppo-cartpole --compute none --quiet": (
        *("--envs", "--steps", "--rollout", "--hidden", "--seed", "--gamma", "--duration", "--evaluate-every"),
        *("--workers", "--checkpoint-every", "--threads", "--learning-rate", "--resume", "--red", "--rules", "--env"),
        *("--tracker", "--callback"),
    ),
    "export RUN --format numpy --out OUT": ("--format", "--out", "--push-to-hub"),
    "train red-vs-react-restore --compute none --quiet": ("--blue", "--length", "--red", "--observation"),
    "selfplay --blue no-such --quiet": (
        *("--generations", "--steps", "--envs", "--episodes", "--length", "--population", "--seed", "--red", "--rules"),
        *("--out", "--resume"),
    ),
    "evaluate restore --episodes 2 --length 5": ("--episodes", "--seed", "--length", "--red", "--rules"),
    "plot RUN --out OUT": ("--smooth", "--format", "--out"),
    "compare RUN --out OUT": ("--smooth", "--out", "--duration"),
    "race ppo-cartpole --out OUT": ("--smooth", "--duration"),
    "sweep ppo-cartpole --compute none --quiet --out OUT": (
        *("--seeds", "--grid", "--space", "--trials", "--sampler", "--pruner", "--search", "--jobs", "--task", "--out"),
        *("--storage", "--cluster", "FILE"),
    ),
    "sweep RUN": ("--seeds", "--task", "--jobs"),
    "demo --episodes 1": ("--episodes", "--seed", "--length", "--red"),
    "doctor": ("--json", "FILE"),
    "conformance": ("FILE",),
    "profile no-such-env": (
        *("--envs", "--seconds", "--workers", "--seed", "--backend", "--batch-size", "--extras", "--env-args"),
    ),
    "profile CartPole-v1 --backend serial --envs 2 --seconds 0.01 --env-args x=1": ("--batch-size", "--extras"),
    "bench page --out OUT": ("--out",),
    "bench publish": ("FILE",),
    "workflow evaluate no-such": ("--episodes", "--seed"),
    "workflow evaluate RUN": ("--episodes", "--orders"),
    "workflow evaluate sleep --orders 0 --episodes 2 --length 3 --no-baselines": (
        *("--episodes", "--seed", "--orders", "--red", "--rules", "--length", "--definition", "--foothold", "--csv"),
    ),
    "workflow train 0 --compute none --quiet": ("--envs", "--episodes", "--patience", "--inherit", "--resume"),
    "text show": ("--turns", "--seed", "--history", "--red", "--rules", "--view", "--rename", "--agent", "--prompt"),
    "text play --endpoint http://127.0.0.1:1/v1 --model m --retries 0 --length 2 --out OUT": (
        *(
            "--episodes",
            "--length",
            "--seed",
            "--history",
            "--red",
            "--rules",
            "--view",
            "--rename",
            "--answer",
            "--body",
        ),
        *("--chances", "--fallback", "--baselines", "--parallel", "--timeout", "--retries", "--price", "--budget"),
        *("--endpoint", "--model", "--key-env", "--prompt"),
    ),
    "text compare": ("FILE",),
    "workflow search --compute none --quiet": ("--budget-episodes", "--initial", "--beta", "--resume"),
}


@pytest.mark.parametrize("command", WILD_FLAGS)
def test_wild_flags(
    command: str, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    random = Random(command)
    for flag in WILD_FLAGS[command]:
        for number in random.sample(NUMBERS, 4):
            words = command.replace("RUN", str(run)).replace("OUT", str(tmp_path / "out")).split()
            check([*words, *([] if flag == "FILE" else [flag]), number], f"{flag} {number[:30]}", capfd)


@pytest.mark.parametrize(
    "flags",
    ["--envs 2e", "--rollout 2e", "--hidden 2e 2e", "--seed 2e", "--workers 2e", "--recurrent-size 2e", "--epochs 2e"],
)
def test_numbers_beyond_any_machine_are_refused_before_anything_is_allocated(
    flags: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wild = flags.replace("2e", str(2**70)).split()
    assert outcome(["train", "ppo-cartpole", "--quiet", "--out", str(tmp_path / "run"), *wild]) == 2
    assert wild[0].strip("-").replace("-", "_") in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_damaged_results_of_benches_and_searches(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    random = Random(16)
    stored = Path("benchmarks")
    for number, source in enumerate(sorted(stored.glob("*.json")) * 2):
        folder = tmp_path / f"b{number}"
        folder.mkdir()
        shutil.copy(source, folder)
        check(["bench", "page", str(folder)], f"{source.name}: {rewrite_json(folder / source.name, random)}", capfd)
    for number, damage in enumerate(DAMAGES):
        folder = tmp_path / f"s{number}"
        folder.mkdir()
        for name in ("search.json", "results.json", "config.yaml"):
            (folder / name).write_text("{}")
        why = damage(folder / "results.json", random)
        check(["plot", str(folder)], f"results.json: {why}", capfd)
        damage(folder / "search.json", random)
        check(["workflow", "search", "--resume", str(folder), "--quiet"], f"search.json: {why}", capfd)


def test_damaged_recordings(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    random = Random(17)
    source = min(RECORDINGS.glob("*.npz"), key=lambda file: file.stat().st_size)
    with np.load(source) as stored:
        arrays = {name: stored[name] for name in stored.files}
    for number, damage in enumerate([*DAMAGES, *[rewrite_arrays] * 25]):
        file = tmp_path / f"{number}.npz"
        np.savez(file, **arrays)
        check(["conformance", str(file)], damage(file, random), capfd)


def rewrite_arrays(path: Path, random: Random) -> str:
    with np.load(path) as stored:
        what, arrays = mutated({name: stored[name] for name in stored.files}, random)
    np.savez(path, **arrays)
    return what


def test_results_that_cannot_be_published(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    random = Random(18)
    for place in (*PLACES, FOLDER):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if Path(place).is_dir() else shutil.copy)(place, tmp_path / place)
    files = sorted((tmp_path / FOLDER).glob("*.json"))
    for damage in [*DAMAGES, *[rewrite_json] * 10]:
        file = random.choice(files)
        content = file.read_bytes()
        why = f"{file.name}: {damage(file, random)}"
        check(["bench", "publish", str(tmp_path)], why, capfd)
        if file.is_dir():
            file.rmdir()
        file.write_bytes(content)
    (tmp_path / "README.md").unlink()
    check(["bench", "publish", str(tmp_path)], "no README", capfd)
