from .filter import Belief as Belief
from .filter import BeliefSettings as BeliefSettings
