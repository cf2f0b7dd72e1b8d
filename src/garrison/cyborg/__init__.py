"""A drop-in for CybORG: scripts that were written against its CAGE-2 run on this simulator, with the same numbers."""
