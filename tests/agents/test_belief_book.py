"""What defenders keep about their episodes."""

import numpy as np

from garrison.agents.belief_book import BeliefBook
from garrison.belief import Belief
from garrison.cage2 import VectorEnv

STEPS, RESET_AT = 12, 5


def test_beliefs_follow_each_episode_from_its_first_observation() -> None:
    envs = VectorEnv(2, red=["bline", "meander"], rules="head")
    observations, _ = envs.reset(seed=1)
    random = np.random.default_rng(0)
    book = BeliefBook("head", "challenge")
    book.begin(2)
    beliefs = [Belief("head"), Belief("head")]
    assert book.see(observations).all()
    for step in range(STEPS):
        actions = random.integers(0, 145, 2)
        book.took(actions)
        observations, *_ = envs.step(actions)
        if step == RESET_AT:
            mask = np.array([True, False])
            observations, _ = envs.reset(options={"reset_mask": mask})
            book.reset(mask)
            beliefs[0].begin()
        else:
            beliefs[0].update(int(actions[0]), observations[0])
        beliefs[1].update(int(actions[1]), observations[1])
        assert book.see(observations).tolist() == [step == RESET_AT, False]
        for row, belief in enumerate(beliefs):
            assert book.beliefs.states(row).tobytes() == belief.states.tobytes()
    assert book.clocks.tolist() == [STEPS - RESET_AT - 1, STEPS]


def test_clones_keep_their_own_book() -> None:
    book = BeliefBook("head", "challenge")
    book.begin(3)
    book.see(np.zeros((3, 52), np.int8))
    book.took(np.array([4, 5, 6]))
    twin = book.clone(np.array([2, 1]))
    twin.see(np.zeros((2, 52), np.int8))
    assert twin.last.tolist() == [6, 5]
    assert twin.clocks.tolist() == [1, 1]
    assert book.clocks.tolist() == [0, 0, 0]
    assert book.beliefs.weights(2).tolist() == [0.45, 0.45, 0.1]
