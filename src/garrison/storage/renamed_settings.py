"""Settings that had other names in earlier files and checkpoints."""

from typing import Any

RENAMED = {"env": {"encoder": "challenge_encoder"}}
"""By section, the old and the present name of a setting."""


def with_present_names(experiment: Any) -> Any:
    """Return the sections of an experiment, as read from a file, under the names that settings have now."""
    if not isinstance(experiment, dict):
        return experiment
    found = dict(experiment)
    for section, names in RENAMED.items():
        if isinstance(found.get(section), dict):
            found[section] = {names.get(key, key): value for key, value in found[section].items()}
    return found
