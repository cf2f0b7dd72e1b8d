"""Bridges to other people's code: Stable-Baselines3 and the original CybORG."""
