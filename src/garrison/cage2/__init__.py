"""CAGE Challenge 2."""
