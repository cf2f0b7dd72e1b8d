import json
from pathlib import Path

import pytest

from garrison.cage2.names import HOSTS, SUBNETS
from garrison.errors import UserError
from garrison.text.renaming import Names, names_of


def test_nothing_asked_for_is_the_challenges_own() -> None:
    assert names_of(None) == names_of("") == Names(HOSTS, SUBNETS)
    assert names_of(None).are_original
    assert names_of(None).order == list(range(13))  # so the table is in the challenge's order


def test_schemes() -> None:
    neutral = names_of("neutral")
    assert neutral.hosts == tuple(f"host-{k:02}" for k in range(1, 14))
    assert neutral.subnets == ("net-1", "net-2", "net-3")
    assert not set(names_of("roles").hosts) & set(HOSTS)
    assert sorted(names_of("shuffled:1").hosts) == sorted(HOSTS)
    assert names_of("shuffled:1").hosts != HOSTS


def test_a_seed_deals_the_names_out_and_gives_the_same_again() -> None:
    for scheme in ("neutral", "shuffled"):
        assert names_of(f"{scheme}:7") == names_of(f"{scheme}:7") != names_of(f"{scheme}:8")
        assert sorted(names_of(f"{scheme}:7").hosts) == sorted(names_of(scheme).hosts)
    assert names_of("neutral:7").order != list(range(13))


def test_a_file_or_a_mapping_names_some_or_all(tmp_path: Path) -> None:
    file = tmp_path / "names.json"
    file.write_text(json.dumps({"hosts": {"User0": "alice"}, "subnets": {"User": "office"}}))
    for given in (str(file), file, {"hosts": {"User0": "alice"}, "subnets": {"User": "office"}}):
        names = names_of(given)
        assert names.hosts == tuple("alice" if host == "User0" else host for host in HOSTS)
        assert names.subnets == ("Enterprise", "Operational", "office")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("neutrl", "did you mean 'neutral'"),
        ("roles:3", "draws nothing"),
        ("neutral:x", "whole number"),
        ("nowhere.json", "cannot read nowhere.json"),
        ({"hosts": {"User9": "x"}}, "unknown name"),
        ({"Hosts": {}}, "'hosts', 'subnets' or both"),
        ({"hosts": ["x"]}, "must be a mapping"),
        ({"hosts": {"User0": "alice", "User1": "Alice"}}, "cannot be told apart"),
        ({"hosts": {"User0": "pc-1", "User1": "pc_01"}}, "cannot be told apart"),
        ({"hosts": {"User0": "User1"}}, "cannot be told apart"),
        ({"hosts": {"User0": "restore"}}, "an action could be meant"),
        ({"hosts": {"User0": "apache"}}, "an action could be meant"),
        ({"hosts": {"User0": "12"}}, "an action could be meant"),
        ({"hosts": {"User0": "a b"}}, "cannot be called 'a b'"),
        ({"hosts": {"User0": 3}}, "cannot be called 3"),
        ({"hosts": {"User0": "x" * 41}}, "up to 40"),
        ({"subnets": {"User": "Enterprise"}}, "cannot be told apart"),
    ],
)
def test_names_that_cannot_be_used_are_refused(given: object, why: str) -> None:
    with pytest.raises(UserError, match=why):
        names_of(given)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "[]", "{", '"x"', "[" * 3000])
def test_a_damaged_file_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "names.json").write_text(text)
    with pytest.raises(UserError):
        names_of(tmp_path / "names.json")
