"""A trainer as a workload: it runs in a thread of its own, from one log to the next."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Thread

from garrison.bench.method.fresh import Work
from garrison.learn.run import RunLog


class StepwiseRun(RunLog):
    """A run log that lets training go on from one log to the next."""

    stop = False

    def __init__(self) -> None:
        self.go: SimpleQueue[None] = SimpleQueue()
        self.done: SimpleQueue[tuple[int, dict[str, float]] | BaseException] = SimpleQueue()

    def log(self, step: int, metrics: dict[str, float]) -> None:
        """Hand the metrics over and wait for the next turn."""
        self.done.put((step, metrics))
        if not self.stop:  # a learner that logs several updates at once has more to say after the last turn
            self.go.get()


@contextmanager
def stepwise(
    train: Callable[[StepwiseRun], object],
    see: Callable[[dict[str, float]], None],
    facts: Callable[[], dict[str, float]],
) -> Iterator[Work]:
    """Yield the work of `train`, one log per call; `see` gets the metrics of each, `facts` is asked at the end."""
    run = StepwiseRun()
    steps = 0

    def body() -> None:
        try:
            train(run)
        except BaseException as error:  # handed to the measuring thread, which raises it
            run.done.put(error)

    thread = Thread(target=body, daemon=True)

    def advance() -> int:
        nonlocal steps
        if thread.ident is None:
            thread.start()
        else:
            run.go.put(None)
        outcome = run.done.get()
        if isinstance(outcome, BaseException):
            raise outcome
        before, (steps, metrics) = steps, outcome
        see(metrics)
        return steps - before

    yield Work(advance, facts)
    run.stop = True
    run.go.put(None)
    thread.join()
