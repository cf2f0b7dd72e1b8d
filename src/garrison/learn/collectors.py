"""The choice of what collects from environments, by what they can do."""

from typing import Any

from gymnasium.spaces import Discrete
from gymnasium.vector import VectorEnv

from garrison.learn.collector import Collector
from garrison.learn.envs import is_ready_first, native_steps
from garrison.learn.nn.compiled import CompiledNetwork
from garrison.learn.nn.network import Network
from garrison.learn.ready_first import ReadyFirstCollector
from garrison.learn.spaces.observations import BitsForm


def make_collector(envs: VectorEnv[Any, Any, Any], network: Network, seed: int, masked: bool) -> Collector:
    """Return what collects from these environments: ready first, inside compiled code, or step by step."""
    if is_ready_first(envs):
        return ReadyFirstCollector(envs, network, seed, masked)
    if type(network) is CompiledNetwork and sees_bits(network) and native_steps(envs) is not None:
        from garrison.learn.native_collector import NativeCollector

        return NativeCollector(envs, network, seed, masked)
    return Collector(envs, network, seed, masked)


def sees_bits(network: CompiledNetwork) -> bool:
    """Return whether observations are bits, and an action is one number."""
    policy = network.policy
    return type(policy.observations) is BitsForm and isinstance(policy.actions.space, Discrete)
