"""Three callbacks: stop at a score, meet harder attackers step by step, keep the best checkpoints.

garrison train ppo-mixed --evaluate-every 200000 --callback examples.callbacks:early_stop
garrison train ppo-mixed --callback examples.callbacks:Curriculum
"""

import tempfile
from pathlib import Path

from garrison.runs import Callback, preset, train


class EarlyStop(Callback):
    """Ends the run once an evaluation reaches a total."""

    def __init__(self, total: float) -> None:
        self.wanted, self.is_reached = total, False

    def after_evaluation(self, run, evaluation) -> None:
        self.is_reached = evaluation.total >= self.wanted

    def should_stop(self, run) -> bool:
        return self.is_reached


class Curriculum(Callback):
    """Changes the attackers when the mean return of training episodes says that the present ones are beaten."""

    def __init__(self, stages=("bline", "bline:0.5,meander:0.5", "meander"), beaten=-30.0, patience=20) -> None:
        self.stages, self.beaten, self.patience = stages, beaten, patience
        self.stage, self.waited = 0, 0

    def started(self, run) -> None:
        if run.step == 0:  # the attackers of a resumed run are as they were
            run.set_red(self.stages[0])

    def after_update(self, run) -> None:
        self.waited += 1
        is_over = self.waited >= self.patience and run.metrics.get("rollout/ep_reward_mean", -1e9) > self.beaten
        if is_over and self.stage + 1 < len(self.stages):
            self.stage, self.waited = self.stage + 1, 0
            run.set_red(self.stages[self.stage])
            run.say(f"step {run.step:,}: from now on against {self.stages[self.stage]}")

    def state(self) -> dict:
        return {"stage": self.stage, "waited": self.waited}

    def restore(self, state) -> None:
        self.stage, self.waited = state["stage"], state["waited"]


class KeepBest(Callback):
    """Keeps the checkpoints of the k best evaluations in the run's folder."""

    def __init__(self, k: int = 3) -> None:
        self.k = k
        self.kept: list[list] = []  # total and file, best first

    def after_evaluation(self, run, evaluation) -> None:
        name = f"step-{evaluation.step}.garrison"
        evaluation.save(run.folder / name)
        self.kept = sorted([*self.kept, [evaluation.total, name]], reverse=True)
        for _, left_out in self.kept[self.k :]:
            (run.folder / left_out).unlink()
        del self.kept[self.k :]

    def state(self) -> dict:
        return {"kept": self.kept}

    def restore(self, state) -> None:
        self.kept = state["kept"]


def early_stop() -> EarlyStop:
    """What `--callback examples.callbacks:early_stop` names: a function that makes it, because it needs a number."""
    return EarlyStop(-60.0)


def main() -> None:
    tiny = preset("ppo-mixed").changed(
        steps=10_240, envs=64, rollout=20, hidden=(16,), evaluate_every=1280, evaluate_episodes=0, tensorboard=False
    )
    with tempfile.TemporaryDirectory() as folder:
        callbacks = [EarlyStop(-500.0), Curriculum(beaten=-1e6, patience=2), KeepBest(2)]
        outcome = train(tiny, Path(folder) / "run", progress=False, callbacks=callbacks)
        kept = sorted(path.name for path in (Path(folder) / "run").glob("step-*"))
    print(
        f"{outcome.status} after {outcome.summary['total_timesteps']} steps, attackers at the end: {callbacks[1].stage}"
    )
    print(f"the best checkpoints: {', '.join(kept)}")


if __name__ == "__main__":
    main()
