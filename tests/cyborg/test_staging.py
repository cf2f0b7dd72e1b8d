"""The drop-in's folder is copied to where scripts may write, whole, by as many processes as like."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import copytree

import pytest

from garrison.cyborg import staging
from garrison.cyborg.staging import evaluation_folder, source_files, staged


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GARRISON_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_all_files_are_there_and_results_have_a_folder(cache: Path) -> None:
    folder = staged()
    assert folder.parent == cache
    assert source_files(folder) == source_files()
    assert (folder / "CybORG" / "Shared" / "Scenarios" / "Scenario2.yaml").is_file()
    (evaluation_folder(folder) / "result.txt").write_text("mine")
    assert staged() == folder
    assert (evaluation_folder(folder) / "result.txt").read_text() == "mine"


def test_another_version_has_another_folder(tmp_path: Path) -> None:
    other = copytree(staging.SOURCE, tmp_path / "other")
    (other / "CybORG" / "version.txt").write_text("other\n")
    assert staged(other) != staged()


def test_a_source_that_nobody_may_write_is_enough(tmp_path: Path) -> None:
    source = copytree(staging.SOURCE, tmp_path / "source")
    for path in [source, *source.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    folder = staged(source)
    (evaluation_folder(folder) / "result.txt").write_text("mine")
    init = folder / "CybORG" / "__init__.py"
    init.write_text("damaged")
    assert staged(source) == folder
    assert init.read_bytes() == (source / "CybORG" / "__init__.py").read_bytes()


def test_two_at_once_see_everything() -> None:
    def seen(_: int) -> list[Path]:
        return source_files(staged())

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(seen, range(8))) == [source_files()] * 8
