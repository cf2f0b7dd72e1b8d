"""The matrix products of PPO and nothing else, of every sample as it is collected and in every epoch.

No trainer on this machine that computes each sample can exceed their speed. One that computes equal observations once,
as ours does with bits (`garrison.learn.nn.groups`), can.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch

from garrison.errors import UserError
from garrison.jit import kernel
from garrison.learn.nn.blas import find_sgemm, new_blas
from garrison.learn.nn.layers import linear_backward, linear_forward
from garrison.learn.nn.plan import CHUNK, LayerPlan
from garrison.learn.nn.policy import Policy


@kernel(cached=True)
def _products(sgemm: Any, layers: Any, flat: Any, gradients: Any, work: Any, acting: int, learning: int) -> None:
    """Do the products of `acting` chunks of forward passes and `learning` chunks of forward and backward ones."""
    blas = new_blas(sgemm)
    for chunk in range(acting + learning):
        for number in range(layers.shape[0]):
            linear_forward(blas, layers[number], flat, work, CHUNK)
        if chunk < acting:
            continue
        for number in range(layers.shape[0]):
            linear_backward(blas, layers[number], flat, gradients, work, CHUNK, 0.0)


class Products:
    """Repeats the matrix products of acting once and learning `epochs` times, split over threads."""

    def __init__(self, policy: Policy, threads: int, epochs: int) -> None:
        sgemm = find_sgemm()
        if sgemm is None:
            raise UserError("no BLAS library was found that compiled code can call.")
        plan = LayerPlan(policy)
        layers = np.concatenate((plan.actor, plan.critic, plan.action_head[None], plan.value_head[None]))
        self._threads, self._epochs = threads, epochs
        torch.set_num_threads(1)
        self._pool = ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,))
        flat = policy.flat.numpy() * np.float32(0.0)  # zeros: nothing grows, however often it is repeated
        self._memory = [
            (sgemm, layers, flat.copy(), np.zeros_like(flat), np.zeros(plan.workspace_size, np.float32))
            for _ in range(threads)
        ]

    def run(self, chunks: int) -> int:
        """Do `chunks` chunks of environment steps on each thread; return the steps."""
        jobs = [self._pool.submit(_products, *memory, chunks, chunks * self._epochs) for memory in self._memory]
        for job in jobs:
            job.result()
        return chunks * CHUNK * self._threads

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()
