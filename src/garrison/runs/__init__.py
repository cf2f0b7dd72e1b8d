"""A run is a folder: its settings, metrics, checkpoints and summary. Writing, reading and checking it."""
