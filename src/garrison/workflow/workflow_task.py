"""CAGE-2 with orders to follow, as a task: environments that have an order each, scored by reward and compliance."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from garrison.cage2 import VectorEnv
from garrison.errors import UserError
from garrison.tasks.cage2 import Cage2Settings, Cage2Task, env_arguments
from garrison.tasks.task import FinalScore
from garrison.workflow.scores import Score

if TYPE_CHECKING:
    from garrison.workflow.settings import WorkflowConfig


def spread(orders: list[int], num_envs: int) -> list[int]:
    """Give every environment an order, each order the same number of environments, or one more.

    >>> spread([7, 9], 5)
    [7, 9, 7, 9, 7]
    """
    return [orders[k % len(orders)] for k in range(num_envs)]


def make_workflow_envs(
    env: Cage2Settings, workflow: "WorkflowConfig", orders: list[int], *, autoreset_mode: str = "SameStep"
) -> VectorEnv:
    """Make environments, one for each of `orders`."""
    if env.reward != "score":
        raise UserError(f"an order is learned from the score and its own reward, not from {env.reward}: leave it out.")
    return VectorEnv(
        len(orders),
        autoreset_mode=autoreset_mode,
        workflow=workflow.workflow(orders),
        copy=False,
        **env_arguments(env),
    )


@dataclass(frozen=True)
class WorkflowTask(Cage2Task):
    """The orders of a training, each with its share of the environments."""

    workflow: "WorkflowConfig"
    seed: int
    """Of the final score."""

    def make_envs(self, num_envs: int) -> VectorEnv:
        """Make environments; every order has its share of them."""
        orders = list(self.workflow.orders)
        if len(orders) > num_envs:
            raise UserError(
                f"{len(orders)} orders need as many environments; there are {num_envs}. Say --envs {len(orders)} or "
                "more."
            )
        return make_workflow_envs(
            self.config, self.workflow, spread(orders, num_envs), autoreset_mode=self.autoreset_mode
        )

    def known_scores(self) -> dict[str, float]:
        """Return nothing: nobody else has scores with an order to follow."""
        return {}

    def final_score(self, values: dict[str, Any], name: str, episodes: int) -> FinalScore:
        """Play every order with the likeliest actions."""
        from garrison.workflow.play import NetworkDefender, play_orders

        defender = NetworkDefender(values, name)
        scores = play_orders(defender, self.config, self.workflow, self.workflow.orders, episodes, self.seed)
        text = _summary_of(scores, self.workflow.compliance_threshold)
        return FinalScore({"scores": [score.to_dict() for score in scores]}, text)


def _summary_of(scores: list[Score], threshold: float) -> str:
    if len(scores) == 1:
        score = scores[0]
        return (
            f"likeliest actions, {score.episodes} episodes: reward {score.reward:.2f} ± {score.reward_ci95:.2f}, "
            f"compliance {score.compliance:.3f} ± {score.compliance_ci95:.3f}"
        )
    rewards, rates = [s.reward for s in scores], [s.compliance for s in scores]
    return (
        f"likeliest actions, {scores[0].episodes} episodes per order: reward {min(rewards):.2f} to {max(rewards):.2f}, "
        f"compliance {min(rates):.3f} to {max(rates):.3f}, "
        f"{sum(rate >= threshold for rate in rates)} of {len(scores)} orders at {threshold:g} or more"
    )
