"""Trainers and wrappers of the JAX world on our environment, as they are: see `__main__`."""
