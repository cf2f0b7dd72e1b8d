"""What can be set about a policy and about PPO: frozen, checked on construction, one line of help a field."""

from dataclasses import dataclass, field

from garrison.errors import UserError, choose

ACTIVATIONS = ("tanh", "relu")
TRUNKS = ("separate", "shared")
COMPUTES = ("auto", "compiled", "autograd")
SCHEDULES = ("constant", "linear")
NORMALISATIONS = ("minibatch", "batch", "none")


@dataclass(frozen=True)
class PolicyConfig:
    """The network that maps observations to action logits and a value."""

    hidden: tuple[int, ...] = (64, 64)
    """Widths of the hidden layers."""
    activation: str = "tanh"
    """Activation of the hidden layers: tanh or relu."""
    trunk: str = "separate"
    """Whether actor and critic have separate hidden layers or a shared trunk: separate or shared."""
    recurrent_size: int = 0
    """Width of a GRU after the hidden layers; 0 means no memory."""

    def __post_init__(self) -> None:
        choose("activation", self.activation, ACTIVATIONS)
        choose("trunk", self.trunk, TRUNKS)
        for width in self.hidden:
            _require(isinstance(width, int) and width > 0, "hidden", self.hidden, "give positive widths such as 64 64")
        _require(self.recurrent_size >= 0, "recurrent_size", self.recurrent_size, "give 0 for no memory, or a width")


@dataclass(frozen=True)
class PPOConfig:
    """Proximal policy optimisation: how much is collected, and how it is learned from."""

    steps: int = 10_000_000
    """Environment steps to train for, over all environments."""
    rollout: int = 100
    """Steps that each environment takes between two updates."""
    epochs: int = 4
    """Passes over the collected steps in an update."""
    minibatches: int = 8
    """Parts that a pass is split into; each makes one optimiser step."""
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
    gae_lambda: float = 0.95
    """Decay of generalised advantage estimation: 0 trusts the critic, 1 the collected rewards."""
    clip: float = 0.2
    """How far the probability ratio may leave 1 before its gradient stops."""
    value_clip: float = 0.0
    """How far a value may move from the collected one before its gradient stops; 0 means any distance."""
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
    target_kl: float = 0.0
    """An update ends after the first pass whose mean approximate KL divergence exceeds this; 0 means never."""
    normalise_advantages: str = "minibatch"
    """Over what advantages get mean 0 and deviation 1: minibatch, batch or none."""
    reward_scale: float = 1.0
    """Rewards are multiplied by this before learning; reported returns are not."""
    action_masks: bool = False
    """Whether to forbid the actions that the environment's masks forbid."""
    seed: int = 0
    """Seeds the environments, the initial weights, the actions and the order of the minibatches."""
    device: str = "auto"
    """Where the network lives: auto, cpu, cuda or cuda:N."""
    compute: str = "auto"
    """How the network is computed: compiled (fast; feed-forward on a CPU), autograd (plain torch) or auto."""
    threads: int = 0
    """Threads for the network; 0 means one for each core that this process may use."""
    policy: PolicyConfig = field(default_factory=PolicyConfig)
    """The network."""

    def __post_init__(self) -> None:
        for name in ("steps", "rollout", "epochs", "minibatches"):
            value = getattr(self, name)
            _require(isinstance(value, int) and value > 0, name, value, "give a positive whole number")
        for name in ("gamma", "gae_lambda", "adam_beta1", "adam_beta2"):
            _require(0 <= getattr(self, name) <= 1, name, getattr(self, name), "give a number from 0 to 1")
        for name in ("learning_rate", "clip", "adam_epsilon"):
            _require(getattr(self, name) > 0, name, getattr(self, name), "give a positive number")
        for name in ("value_clip", "value_coef", "entropy_coef", "entropy_coef_final", "max_grad_norm", "target_kl"):
            _require(getattr(self, name) >= 0, name, getattr(self, name), "give 0 or a positive number")
        _require(self.reward_scale != 0, "reward_scale", self.reward_scale, "0 would leave nothing to learn from")
        _require(self.threads >= 0, "threads", self.threads, "give 0 for every core, or a number of threads")
        _require(0 <= self.seed < 2**63, "seed", self.seed, "give a whole number from 0 to 2**63 - 1")
        choose("learning_rate_schedule", self.learning_rate_schedule, SCHEDULES)
        choose("entropy_schedule", self.entropy_schedule, SCHEDULES)
        choose("normalise_advantages", self.normalise_advantages, NORMALISATIONS)
        choose("compute", self.compute, COMPUTES)
        if not self.device.startswith("cuda:"):
            choose("device", self.device, ("auto", "cpu", "cuda"))
        if self.compute == "compiled":
            _require(self.policy.recurrent_size == 0, "compute", self.compute, "a GRU needs autograd (or auto)")
            _require(self.device in ("auto", "cpu"), "compute", self.compute, f"on {self.device} choose autograd")

    def progress(self, steps_done: int) -> float:
        """Return the share of the run that is done, 0 to 1."""
        return min(1.0, steps_done / self.steps)

    def learning_rate_at(self, steps_done: int) -> float:
        """Return the learning rate after `steps_done` environment steps."""
        if self.learning_rate_schedule == "constant":
            return self.learning_rate
        return self.learning_rate * (1.0 - self.progress(steps_done))

    def entropy_coef_at(self, steps_done: int) -> float:
        """Return the weight of the entropy bonus after `steps_done` environment steps."""
        if self.entropy_schedule == "constant":
            return self.entropy_coef
        return self.entropy_coef + (self.entropy_coef_final - self.entropy_coef) * self.progress(steps_done)


def _require(holds: bool, name: str, value: object, fix: str) -> None:
    if not holds:
        raise UserError(f"{name} cannot be {value!r}: {fix}.")
