"""Pictures of episodes: every state can be drawn, and what it says is in it."""

from pathlib import Path
from typing import Any

import pytest

from garrison.agents import load_agent
from garrison.episodes.game import Game
from garrison.errors import UserError
from garrison.report import episode_pictures
from garrison.report.episode_pictures import draw_step, save_animation, save_step
from tests.helpers.scripts import by_the_book, episode_of

pytest.importorskip("matplotlib", reason="Matplotlib is not installed")

WAY = ["sweep User", "scan User1", "exploit User1", "escalate User1"]


def texts(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts if text.get_text()]


def test_a_picture_says_what_is_true_and_what_blue_believes() -> None:
    episode = by_the_book(["DecoyTomcat User2", "Sleep", "Sleep", "Analyse User1"], WAY, seed=2)
    words = texts(draw_step(episode, 4))
    assert {"User", "Enterprise", "Operational", *episode.names["hosts"]} <= {*words}
    assert words.count("P") == 2
    assert words.count("believed privileged") == 1
    assert words.count("Tomcat") == 1
    assert {"Analyse", "PrivilegeEscalate", "service runs"} <= {*words}
    assert episode.turn["blue_text"][-1] in words
    assert "step 4 of 4    total -0.2" in words


def test_before_the_first_turn_there_is_none() -> None:
    words = texts(draw_step(by_the_book([], WAY), 0))
    assert "Before the first turn." in words
    assert words.count("P") == 1


def test_a_stopped_service_is_seen() -> None:
    episode = episode_of(load_agent("sleep"), Game("bline", 50), 1)
    down = episode.state["service"].index(0)
    assert "service down" in texts(draw_step(episode, down))
    assert "service runs" in texts(draw_step(episode, down - 1))


def test_names_are_written_as_they_are(tmp_path: Path) -> None:
    agent = load_agent("sleep")
    agent.name = r"$\frac{1}$ <b>"
    episode = episode_of(agent, Game("sleep", 2))
    assert save_step(episode, 1, tmp_path / "x" / "step.png").read_bytes().startswith(b"\x89PNG")


def test_nothing_is_written_outside_the_picture() -> None:
    episode = episode_of(load_agent("random"), Game("bline", 40), 1)
    longest = max(range(40), key=lambda t: max(len(episode.turn[f"{who}_text"][t]) for who in ("blue", "red", "seen")))
    figure = draw_step(episode, longest + 1)
    figure.canvas.draw()
    for text in figure.axes[0].texts:
        box = text.get_window_extent()
        assert box.x0 >= 0, text.get_text()
        assert box.x1 <= episode_pictures.WIDTH, text.get_text()


def test_an_episode_is_animated_in_even_strides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from PIL import Image

    monkeypatch.setattr(episode_pictures, "FRAMES", 4)
    path = save_animation(by_the_book(["DecoyTomcat User2"], WAY * 3), tmp_path / "x" / "a.gif")
    with Image.open(path) as image:
        assert image.n_frames == 4
        assert image.size == (episode_pictures.WIDTH, episode_pictures.HEIGHT)
        assert image.info["loop"] == 0


@pytest.mark.parametrize("step", [-1, 5])
def test_a_step_that_is_not_there_is_refused(step: int) -> None:
    with pytest.raises(UserError, match=f"numbered 0 to 4; got {step}"):
        draw_step(by_the_book([], WAY), step)
