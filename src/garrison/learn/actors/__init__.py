"""Actors that collect for a learner, and what passes between them."""
