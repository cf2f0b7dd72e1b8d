"""What a batch reports about the episodes that just ended, in the form of Gymnasium's infos."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.workflow import Compliance

EPISODE = "episode_stats"
"""The key of an ended episode's return `r` and length `l`"""


def episode_infos(
    envs: NDArray[np.void],
    ended: NDArray[np.bool_],
    workflow: Compliance | None,
    final_observations: NDArray[np.int8] | None,
) -> dict[str, Any]:
    """Return the return and length of the episodes of `ended`, in the form of Gymnasium's vector environments.

    The key is not `episode`, which belongs to Gymnasium's RecordEpisodeStatistics. `final_observations` is given where
    environments are reset already: what belongs to the old episode is then under `final_obs` and `final_info`.
    """
    mask = ended.copy()
    episode = {
        "r": np.where(mask, envs["last_total"], 0.0),
        "_r": mask,
        "l": np.where(mask, envs["last_length"], 0).astype(np.int64),
        "_l": mask,
    }
    infos: dict[str, Any] = {EPISODE: episode, f"_{EPISODE}": mask}
    if workflow is not None:
        infos.update(workflow=workflow.infos(mask), _workflow=mask)
        episode["r"] = episode["r"] + infos["workflow"]["alignment_return"]
    if final_observations is None:
        return infos
    final_obs = np.full(len(envs), None, dtype=object)
    rows = final_observations[mask]
    final_obs[mask] = np.fromiter(rows, object, len(rows))  # views of one copy: quicker than a copy of each
    return {"final_obs": final_obs, "_final_obs": mask, "final_info": infos, "_final_info": mask}
