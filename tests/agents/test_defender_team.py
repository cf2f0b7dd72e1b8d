"""Several frozen defenders share a batch."""

import numpy as np
import pytest

from garrison.agents.defender_team import DefenderTeam, find_defenders
from garrison.agents.scripted import SCRIPTED
from garrison.errors import UserError


def test_each_defender_plays_its_share_as_if_alone() -> None:
    bits = np.zeros((10, 52), np.int8)
    bits[:, 4 * 9 + 1] = 1  # an exploit was seen on User1
    team = find_defenders("sleep:0.3,react-restore:0.7")
    team.begin(10, seed=0)
    alone = SCRIPTED["react-restore"]()
    alone.begin(7, seed=1)
    for step in range(4):
        actions = team.act(bits)
        assert (actions[:3] == 0).all()
        assert (actions[3:] == alone.act(bits[3:])).all(), step
        ended = np.arange(10) == 5
        team.reset(ended)
        alone.reset(ended[3:])
    assert team.name == "sleep,react-restore"


def test_few_environments_may_leave_somebody_out() -> None:
    team = find_defenders("sleep,react-restore,react-remove")
    team.begin(1)
    assert team.act(np.zeros((1, 52), np.int8)).shape == (1,)


def test_defenders_with_other_eyes_cannot_share() -> None:
    other = SCRIPTED["sleep"]()
    other.encoder = "wrapper2"  # type: ignore[misc]
    with pytest.raises(UserError, match="the same observations"):
        DefenderTeam([SCRIPTED["sleep"](), other], [0.5, 0.5])


@pytest.mark.parametrize(("blue", "message"), [("nobody", "no agent, file or folder"), (3, "no defender of CAGE-2")])
def test_who_is_no_defender_is_refused(blue: object, message: str) -> None:
    with pytest.raises(UserError, match=message):
        find_defenders(blue)
