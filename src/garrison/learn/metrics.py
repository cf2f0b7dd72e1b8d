"""Every metric that a learner logs: its one name, from the learner to `metrics.jsonl`, TensorBoard and the plots.

A new metric is a key in a learner's `metrics` and a line here; docs/metrics.md shows this table and a test holds both
to it.
"""

METRICS = {
    "time/fps": "environment steps per second, over the last update",
    "rollout/ep_reward_mean": "mean return of the last 100 episodes, with actions drawn as in training",
    "rollout/ep_length_mean": "mean length of the last 100 episodes",
    "rollout/episodes": "episodes that ended since the last log",
    "train/learning_rate": "Adam's learning rate",
    "train/entropy_coef": "weight of the entropy bonus",
    "train/epochs": "passes over the collected steps; fewer than set if `target_kl` ended the update",
    "train/policy_loss": "the surrogate's loss, a mean over minibatches",
    "train/value_loss": "half of the squared error of the critic's values",
    "train/entropy": "of the policy, in nats",
    "train/approx_kl": "approximate KL divergence of the policy from the one that the update began with",
    "train/clip_fraction": "share of samples whose probability ratio is outside the clip",
    "train/grad_norm": "length of the gradient before it is shortened to `max_grad_norm`",
    "train/explained_variance": "share of the returns' variance that the critic explains: 1 is perfect",
    "train/policy_lag": "mean number of versions between the weights that acted and those that learn",
    "train/policy_lag_max": "the largest of those",
    "train/vtrace_weight": "mean of `min(rho_bar, ratio)`: 1 means that actor and learner agree",
    "train/actors": "actors at work",
    "train/actors_replaced": "actors that had to be replaced so far",
    "train/publish_share": "share of the time spent on publishing weights",
    "train/waiting_for_data": "share of the time in which the learner had nothing to learn from",
    "time_split/*": "seconds of the update spent in a stage of the loop, such as `act`, `step` or `learn`",
    "actions/*": "share of the collected actions: in CAGE-2 by kind, elsewhere by number if there are at most 32",
    "actors/*": "share of the actors' time spent in one of their stages",
}
"""What each means, by name; a name that ends in `/*` stands for a family."""


def meaning(name: str) -> str | None:
    """Return what a metric means, or None if no learner logs it.

    >>> meaning("time_split/learn") == METRICS["time_split/*"]
    True
    """
    return METRICS.get(name) or METRICS.get(f"{name.rpartition('/')[0]}/*")
