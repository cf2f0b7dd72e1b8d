"""The settings of a policy and of each learner: frozen, checked on construction, one line of help per field."""

from dataclasses import dataclass, field, replace
from typing import Any, Self

from garrison.errors import UserError, choose

ACTIVATIONS = ("tanh", "relu")
TRUNKS = ("separate", "shared", "encoder")
ENCODER_NAMES = ("auto", "mlp", "nature", "impala")
CONTINUOUS_ACTIONS = ("gaussian", "squashed")
COMPUTES = ("auto", "compiled", "autograd")
SCHEDULES = ("constant", "linear")
NORMALISATIONS = ("minibatch", "batch", "none")


WIDEST = 2**31  # of a layer: more has no memory on any machine
MOST = 2**63


@dataclass(frozen=True)
class PolicyConfig:
    """The network that maps observations to action logits and a value."""

    hidden: tuple[int, ...] = (64, 64)
    """Widths of the hidden layers."""
    activation: str = "tanh"
    """Activation of the hidden layers: tanh or relu."""
    trunk: str = "separate"
    """What actor and critic share: nothing (separate), everything but their heads (shared), or the encoder only, with
    hidden layers each (encoder)."""
    recurrent_size: int = 0
    """Width of a GRU after the hidden layers; 0 means no memory."""
    encoder: str = "auto"
    """What reads observations, before the hidden layers: mlp (nothing), nature or impala (convolutions for images; what
    is not an image passes), module:Class (your own torch.nn.Module), or auto (chosen by the observation space)."""
    normalise_observations: bool = False
    """Whether plain numbers in observations are scaled by their running mean and deviation."""
    critic_extras: tuple[str, ...] = ()
    """Extras of the environments, such as parts of their true state, that the critic sees and the actor does not; for
    CAGE-2 the names of `envs.truth`, such as access."""
    continuous_actions: str = "gaussian"
    """How actions of a Box of floats are drawn: gaussian (what leaves the space is clipped) or squashed (by tanh to the
    bounds, which must be finite)."""
    log_std_init: float = 0.0
    """Logarithm of the deviation that continuous actions start with."""

    def __post_init__(self) -> None:
        choose("activation", self.activation, ACTIVATIONS)
        choose("trunk", self.trunk, TRUNKS)
        encoder: Any = self.encoder
        if isinstance(encoder, type):  # from Python a class may be given; files and checkpoints have its name
            object.__setattr__(self, "encoder", f"{encoder.__module__}:{encoder.__qualname__}")
        if ":" not in self.encoder:
            choose("encoder", self.encoder, ENCODER_NAMES)
        is_apart = not self.critic_extras or self.trunk != "shared"
        _require(is_apart, "trunk", self.trunk, "a critic with extras needs layers of its own: separate or encoder")
        for width in self.hidden:
            is_width = isinstance(width, int) and 0 < width < WIDEST
            _require(is_width, "hidden", self.hidden, "give positive widths such as 64 64")
        is_width = 0 <= self.recurrent_size < WIDEST
        _require(is_width, "recurrent_size", self.recurrent_size, "give 0 for no memory, or a width")
        choose("continuous_actions", self.continuous_actions, CONTINUOUS_ACTIONS)
        is_usable = -20 <= self.log_std_init <= 5
        _require(is_usable, "log_std_init", self.log_std_init, "give a number from -20 to 5; 0 means a deviation of 1")


@dataclass(frozen=True)
class LearnerConfig:
    """What can be set about every learner."""

    steps: int = 10_000_000
    """Environment steps to train for, over all environments."""
    rollout: int = 100
    """Steps that each environment takes between two updates."""
    learning_rate: float = 1e-3
    """Adam's learning rate at the start."""
    learning_rate_schedule: str = "linear"
    """Whether the learning rate stays (constant) or falls to 0 over the run (linear)."""
    adam_epsilon: float = 1e-5
    """Added to the root of Adam's second moment."""
    adam_beta1: float = 0.9
    """Decay of Adam's first moment."""
    adam_beta2: float = 0.999
    """Decay of Adam's second moment."""
    gamma: float = 0.99
    """Discount of the next step's value."""
    value_coef: float = 0.5
    """Weight of the value loss."""
    entropy_coef: float = 0.01
    """Weight of the entropy bonus at the start."""
    entropy_coef_final: float = 0.0
    """Weight of the entropy bonus at the end, when its schedule is linear."""
    entropy_schedule: str = "constant"
    """Whether the entropy bonus stays (constant) or moves to entropy_coef_final over the run (linear)."""
    max_grad_norm: float = 0.5
    """Gradients longer than this are shortened to it; 0 means never."""
    reward_scale: float = 1.0
    """Rewards are multiplied by this before learning; reported returns are not."""
    normalise_returns: bool = False
    """Whether rewards are divided by the running deviation of discounted returns before learning."""
    action_masks: bool = False
    """Whether to forbid the actions that the environment's masks forbid."""
    seed: int = 0
    """Seeds the environments, the initial weights, the actions and the order of the minibatches."""
    compute: str = "auto"
    """How the network is computed: compiled (fast; feed-forward on a CPU), autograd (plain torch) or auto."""
    policy: PolicyConfig = field(default_factory=PolicyConfig)
    """The network."""

    def __post_init__(self) -> None:
        self._check_whole("steps", "rollout")
        self._check_shares("gamma", "adam_beta1", "adam_beta2")
        self._check_positive("learning_rate", "adam_epsilon")
        self._check_not_negative("value_coef", "entropy_coef", "entropy_coef_final", "max_grad_norm")
        _require(self.reward_scale != 0, "reward_scale", self.reward_scale, "0 would leave nothing to learn from")
        _require(0 <= self.seed < 2**63, "seed", self.seed, "give a whole number from 0 to 2**63 - 1")
        choose("learning_rate_schedule", self.learning_rate_schedule, SCHEDULES)
        choose("entropy_schedule", self.entropy_schedule, SCHEDULES)
        choose("compute", self.compute, COMPUTES)
        if self.compute == "compiled":
            _require(self.policy.recurrent_size == 0, "compute", self.compute, "a GRU needs autograd (or auto)")

    def learning_rate_at(self, progress: float) -> float:
        """Return the learning rate when the share `progress` of the run is done."""
        if self.learning_rate_schedule == "constant":
            return self.learning_rate
        return self.learning_rate * (1.0 - progress)

    @property
    def agents(self) -> range:
        """The seeds of the agents that are trained together: one, unless a learner can train several at once."""
        return range(self.seed, self.seed + 1)

    def alone(self, seed: int) -> Self:
        """Return the settings of one of the agents, as if it was trained without the others."""
        return replace(self, seed=seed)

    def entropy_coef_at(self, progress: float) -> float:
        """Return the weight of the entropy bonus when the share `progress` of the run is done."""
        if self.entropy_schedule == "constant":
            return self.entropy_coef
        return self.entropy_coef + (self.entropy_coef_final - self.entropy_coef) * progress

    def _check_whole(self, *names: str) -> None:
        for name in names:
            value = getattr(self, name)
            _require(
                isinstance(value, int) and 0 < value < MOST, name, value, "give a positive whole number below 2**63"
            )

    def _check_shares(self, *names: str) -> None:
        for name in names:
            _require(0 <= getattr(self, name) <= 1, name, getattr(self, name), "give a number from 0 to 1")

    def _check_positive(self, *names: str) -> None:
        for name in names:
            _require(getattr(self, name) > 0, name, getattr(self, name), "give a positive number")

    def _check_not_negative(self, *names: str) -> None:
        for name in names:
            _require(getattr(self, name) >= 0, name, getattr(self, name), "give 0 or a positive number")

    def _check_device(self, device: str, threads: int) -> None:
        _require(threads >= 0, "threads", threads, "give 0 to have it chosen, or a number of threads")
        if not device.startswith("cuda:"):
            choose("device", device, ("auto", "cpu", "cuda"))
        if self.compute == "compiled":
            _require(device in ("auto", "cpu"), "compute", self.compute, f"on {device} choose autograd")


@dataclass(frozen=True)
class PPOConfig(LearnerConfig):
    """Proximal policy optimisation: how much is collected, and how it is learned from."""

    epochs: int = 4
    """Passes over the collected steps in an update."""
    minibatches: int = 8
    """Parts that a pass is split into; each makes one optimiser step."""
    gae_lambda: float = 0.95
    """Decay of generalised advantage estimation: 0 trusts the critic, 1 the collected rewards."""
    clip: float = 0.2
    """How far the probability ratio may leave 1 before its gradient stops."""
    value_clip: float = 0.0
    """How far a value may move from the collected one before its gradient stops; 0 means any distance."""
    target_kl: float = 0.0
    """An update ends after the first pass whose mean approximate KL divergence exceeds this; 0 means never."""
    normalise_advantages: str = "minibatch"
    """Over what advantages get mean 0 and deviation 1: minibatch, batch or none."""
    device: str = "auto"
    """Where the network lives: auto, cpu, cuda or cuda:N."""
    threads: int = 0
    """Threads for the network; 0 means one for each core that this process may use, and with a GRU no more than one
    for 128 environments."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_whole("epochs", "minibatches")
        self._check_shares("gae_lambda")
        self._check_positive("clip")
        self._check_not_negative("value_clip", "target_kl")
        self._check_device(self.device, self.threads)
        choose("normalise_advantages", self.normalise_advantages, NORMALISATIONS)


@dataclass(frozen=True)
class JaxPPOConfig(PPOConfig):
    """The same algorithm with environments and network on one device, compiled together by JAX."""

    seeds: int = 1
    """Agents to train at once, with the seeds `seed`, `seed` + 1, ...; each has its environments, takes all the steps
    and gets a folder of its own."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_whole("seeds")
        policy = self.policy
        _require(self.compute == "auto", "compute", self.compute, "ppo-jax is always computed by JAX: leave it out")
        _require(self.threads == 0, "threads", self.threads, "XLA decides how many threads ppo-jax gets: leave it out")
        _require(not self.normalise_returns, "normalise_returns", True, "ppo-jax has only the fixed reward_scale")
        _require(not policy.recurrent_size, "recurrent_size", policy.recurrent_size, "ppo-jax has no GRU; use ppo")
        _require(not policy.critic_extras, "critic_extras", policy.critic_extras, "ppo-jax has none; use ppo")
        normalised = policy.normalise_observations
        _require(not normalised, "normalise_observations", True, "ppo-jax takes observations as they are; use ppo")
        is_dense = policy.encoder in ("auto", "mlp")
        _require(is_dense, "encoder", policy.encoder, "ppo-jax has dense layers only; use ppo")
        last = self.agents[-1]
        _require(last < 2**63, "seeds", self.seeds, f"the last agent's seed would be {last}, and 2**63 - 1 is the most")

    @property
    def agents(self) -> range:
        """The seeds of the agents."""
        return range(self.seed, self.seed + self.seeds)

    def alone(self, seed: int) -> Self:
        """Return the settings of one of the agents."""
        return replace(self, seed=seed, seeds=1)


@dataclass(frozen=True)
class ImpalaConfig(LearnerConfig):
    """Importance-weighted actor-learners: actors collect on their own, one learner corrects for their age."""

    actors: int = -1
    """Actor processes; -1 means one for each core but one, 0 one in the learner's own process, step by step."""
    buffers: int = 2
    """Trajectories that an actor may have under way; it waits when all are with the learner."""
    batch: int = 1
    """Trajectories that an update learns from."""
    epochs: int = 1
    """Passes over a batch; more than 1 reuse the samples, within `clip`."""
    minibatches: int = 1
    """Parts that a pass is split into; each makes one optimiser step."""
    clip: float = 0.2
    """How far the probability ratio may move within an update before its gradient stops; 0 means any distance."""
    rho_bar: float = 1.0
    """V-trace: the largest weight of a step's temporal difference and of its policy gradient."""
    c_bar: float = 1.0
    """V-trace: the largest weight with which later corrections are passed back."""
    vtrace_lambda: float = 1.0
    """V-trace: decay of later corrections: 0 trusts the critic, 1 the collected rewards."""
    normalise_advantages: str = "batch"
    """Whether a batch's advantages get mean 0 and deviation 1: batch or none."""
    actor_timeout: float = 120.0
    """Seconds without a trajectory after which an actor counts as stuck and is replaced."""
    device: str = "auto"
    """Where the learner's network lives: auto, cpu, cuda or cuda:N."""
    threads: int = 0
    """Threads of the learner's network; 0 means one for each core of its machine without an actor, at least one, and
    with a GRU no more than one for 128 environments."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_whole("buffers", "batch", "epochs", "minibatches")
        self._check_positive("rho_bar", "c_bar", "actor_timeout")
        self._check_not_negative("clip")
        self._check_shares("vtrace_lambda")
        self._check_device(self.device, self.threads)
        _require(self.actors >= -1, "actors", self.actors, "give -1 for one per core, 0 for none, or their number")
        choose("normalise_advantages", self.normalise_advantages, ("batch", "none"))


@dataclass(frozen=True)
class A3CConfig(LearnerConfig):
    """Asynchronous advantage actor-critic: workers learn by themselves and write to the same weights without locks."""

    rollout: int = 20
    """Steps that each environment takes between two updates of its worker."""
    actors: int = -1
    """Processes that act and learn; -1 means one for each core."""
    gae_lambda: float = 1.0
    """Decay of generalised advantage estimation: 1 means n-step returns, as in the paper."""
    normalise_advantages: str = "none"
    """Whether the advantages of a rollout get mean 0 and deviation 1: batch or none."""
    actor_timeout: float = 120.0
    """Seconds without a report after which an actor counts as stuck and is replaced."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_positive("actor_timeout")
        self._check_shares("gae_lambda")
        _require(self.actors == -1 or self.actors > 0, "actors", self.actors, "give -1 for one per core, or a number")
        choose("normalise_advantages", self.normalise_advantages, ("batch", "none"))


def _require(holds: bool, name: str, value: object, fix: str) -> None:
    if not holds:
        raise UserError(f"{name} cannot be {value!r}: {fix}.")
