"""The wrappers, from dicts to Gym."""

from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)

from CybORG.Agents.Wrappers.BaseWrapper import BaseWrapper as BaseWrapper
from CybORG.Agents.Wrappers.FixedFlatWrapper import FixedFlatWrapper as FixedFlatWrapper
from CybORG.Agents.Wrappers.OpenAIGymWrapper import OpenAIGymWrapper as OpenAIGymWrapper
from CybORG.Agents.Wrappers.BlueTableWrapper import BlueTableWrapper as BlueTableWrapper
from CybORG.Agents.Wrappers.RedTableWrapper import RedTableWrapper as RedTableWrapper
from CybORG.Agents.Wrappers.TrueTableWrapper import TrueTableWrapper as TrueTableWrapper
from CybORG.Agents.Wrappers.EnumActionWrapper import EnumActionWrapper as EnumActionWrapper
from CybORG.Agents.Wrappers.ChallengeWrapper import ChallengeWrapper as ChallengeWrapper
from CybORG.Agents.Wrappers.ReduceActionSpaceWrapper import ReduceActionSpaceWrapper as ReduceActionSpaceWrapper
