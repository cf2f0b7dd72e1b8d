"""Families of environments: how to make them, what a score means, how they are evaluated."""
