from .belief_settings import BeliefSettings as BeliefSettings
from .filter import Belief as Belief
from .filter import Beliefs as Beliefs
