"""With `--api gymnasium` the Gym wrappers are environments as Gymnasium has them."""

from pathlib import Path

import pytest

from tests.helpers.cyborg_scripts import MADE, lines_of

pytestmark = pytest.mark.slow

SCRIPT = (
    MADE
    + """
import sys, warnings
import gymnasium
from gymnasium.utils.env_checker import check_env

warnings.simplefilter("error")
warnings.filterwarnings("ignore", "A Box observation space m.*imum value")  # the original's bounds
for env in (
    ChallengeWrapper("Blue", made(Red=B_lineAgent), max_steps=3),
    OpenAIGymWrapper("Blue", EnumActionWrapper(BlueTableWrapper(made(Red=B_lineAgent), output_mode="vector"))),
):
    check_env(env, skip_render_check=True)
    print(isinstance(env, gymnasium.Env), isinstance(env.action_space, gymnasium.spaces.Discrete))
env = ChallengeWrapper("Blue", made(Red=B_lineAgent), max_steps=2)
first, info = env.reset(seed=5)
print(first.dtype, info, env.get_ip_map()["User1"])
print(*[env.step(0)[2:4] for _ in range(2)])
print(env.reset(seed=5) and env.get_ip_map()["User1"], "gym" in sys.modules)
"""
)


def test_wrappers_pass_gymnasiums_own_check(tmp_path: Path) -> None:
    *checked, first, ends, again = lines_of(tmp_path, SCRIPT, "--api", "gymnasium")
    assert checked == ["True True", "True True"]
    kind, info, address = first.split()
    assert (kind, info) == ("float32", "{}")
    assert ends == "(False, False) (False, True)"
    assert again == f"{address} False"
