"""The table of the peers' tests in docs/vector.md says what `differences.toml` says."""

import re

from tests.peers.__main__ import BACKENDS
from tests.peers.suites import SUITES
from tests.peers.table import KNOWN, Outcome, published, surprises, table


def test_every_reason_is_published_and_no_other() -> None:
    reasons = re.findall(r"^\| ([\w-]+) \| (.+) \| [\d to]+ \|$", published().split("\n\n")[1], re.MULTILINE)
    assert sorted(reasons) == sorted({(suite, reason) for suite, known in KNOWN.items() for reason in known.values()})


def test_every_test_passes_or_differs_by_design() -> None:
    row = r"^\| ([\w-]+) \| .+ \| `(\w+)` \| (\d+) \| (\d+) \| (\d+) \|$"
    counts = re.findall(row, published(), re.MULTILINE)
    assert {(suite, backend) for suite, backend, *_ in counts} == {(s.name, b) for s in SUITES for b in BACKENDS}
    assert all(int(own) == int(ours) + int(by_design) for *_, own, ours, by_design in counts)


def test_a_difference_without_a_reason_and_a_reason_without_a_difference_are_told() -> None:
    own = frozenset({"tests.test_vec_check_nan.test_check_nan", "tests.test_vec_envs.test_new"})
    outcome = Outcome("Stable-Baselines3", "1", "serial", own, frozenset())
    found = surprises([outcome])
    assert "Stable-Baselines3, serial: tests.test_vec_envs.test_new" in found
    assert not any("test_check_nan" in line for line in found)
    assert any("nothing differs any more" in line and "test_framestack_vecenv" in line for line in found)
    assert "| Stable-Baselines3 | 1 | `serial` | 2 | 0 | 1 |" in table([outcome])
