"""The agents that can play on either side."""

from garrison.cyborg.refusal import refuses

__getattr__ = refuses(__name__)

from CybORG.Agents.SimpleAgents.BaseAgent import BaseAgent as BaseAgent
from CybORG.Agents.SimpleAgents.SleepAgent import SleepAgent as SleepAgent
from CybORG.Agents.SimpleAgents.B_line import B_lineAgent as B_lineAgent
from CybORG.Agents.SimpleAgents.Meander import RedMeanderAgent as RedMeanderAgent
from CybORG.Agents.SimpleAgents.GreenAgent import GreenAgent as GreenAgent
from CybORG.Agents.SimpleAgents.TestFlatFixed import TestFlatFixedAgent as TestFlatFixedAgent
from CybORG.Agents.SimpleAgents.BlueReactAgent import BlueReactRemoveAgent as BlueReactRemoveAgent
from CybORG.Agents.SimpleAgents.BlueReactAgent import BlueReactRestoreAgent as BlueReactRestoreAgent
from CybORG.Agents.SimpleAgents.KeyboardAgent import KeyboardAgent as KeyboardAgent
from CybORG.Agents.SimpleAgents.TestAgent import TestAgent as TestAgent
from CybORG.Agents.SimpleAgents.HeuristicRed import HeuristicRed as HeuristicRed
from CybORG.Agents.SimpleAgents.DebuggingAgent import DebuggingAgent as DebuggingAgent
from CybORG.Agents.SimpleAgents.BlueMonitorAgent import BlueMonitorAgent as BlueMonitorAgent
