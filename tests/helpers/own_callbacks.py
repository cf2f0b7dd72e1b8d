"""Callbacks of a user's own, named as module:Class."""

from typing import Any

from garrison.runs import Callback


class Following(Callback):
    """Notes every call."""

    made: list["Following"] = []  # noqa: RUF012 - of the class, because a command makes the object

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.made.append(self)

    def started(self, run: Any) -> None:
        self.calls.append(("started", run.step))

    def after_update(self, run: Any) -> None:
        self.calls.append(("update", run.step, run.metrics["step"]))

    def after_evaluation(self, run: Any, evaluation: Any) -> None:
        self.calls.append(("evaluation", evaluation.step, evaluation.total == evaluation.metrics["evaluation/total"]))
        evaluation.save(run.folder / "scored.garrison")

    def should_stop(self, run: Any) -> bool:
        self.calls.append(("stop?", run.step))
        return False

    def state(self) -> dict[str, Any]:
        return {"calls": len(self.calls)}

    def restore(self, state: dict[str, Any]) -> None:
        self.calls.append(("restored", state["calls"]))


class StopAfter(Callback):
    def __init__(self, step: int = 160) -> None:
        self.step = step

    def should_stop(self, run: Any) -> bool:
        return run.step >= self.step


class Turning(Callback):
    """Lets B_line attack alone, and Meander from a step on."""

    def started(self, run: Any) -> None:
        if run.step == 0:
            run.set_red("bline")

    def after_update(self, run: Any) -> None:
        if run.step == 320:
            run.set_red({"meander": 0.75, "bline": 0.25})


class Raising(Callback):
    """Fails where it is told to."""

    def __init__(self, where: str = "after_update") -> None:
        setattr(self, where, self._fail)

    def _fail(self, *given: Any) -> Any:
        raise ValueError("no\nsuch thing")


class Unsavable(Callback):
    def state(self) -> dict[str, Any]:
        return {"a": object()}
