"""The scripted defenders that results stand beside."""

from garrison.workflow.play import AgentPlayer

BASELINES: dict[str, AgentPlayer] = {}
