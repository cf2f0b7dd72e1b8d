"""Families of environments: how they are made, what their scores mean, how a trained policy is judged.

`task` says what a family has to tell, `cage2`, `gymnasium_envs` and `atari_games` are families, and `registry` picks
the one that an environment belongs to. Whoever trains, records or draws a run asks the task, never for the name of an
environment.
"""
