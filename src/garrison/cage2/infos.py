"""What a batch reports about the episodes that just ended, in the form of Gymnasium's infos."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from garrison.cage2.workflow import Compliance


def episode_infos(
    envs: NDArray[np.void],
    ended: NDArray[np.bool_],
    workflow: Compliance | None,
    final_observations: NDArray[np.int8] | None,
) -> dict[str, Any]:
    """Return the return and length of the episodes of `ended`, as Gymnasium's own environments do.

    `final_observations`: also report the last observation of each, for environments that are reset already.
    """
    mask = ended.copy()
    episode = {
        "r": np.where(mask, envs["last_total"], 0.0),
        "_r": mask,
        "l": np.where(mask, envs["last_length"], 0).astype(np.int64),
        "_l": mask,
    }
    infos: dict[str, Any] = {"episode": episode, "_episode": mask}
    if workflow is not None:
        infos.update(workflow=workflow.infos(mask), _workflow=mask)
        episode["r"] = episode["r"] + infos["workflow"]["alignment_return"]
    if final_observations is not None:
        final_obs = np.full(len(envs), None, dtype=object)
        for i in np.flatnonzero(mask):
            final_obs[i] = final_observations[i].copy()
        infos.update(final_obs=final_obs, _final_obs=mask, final_info=dict(infos), _final_info=mask)
    return infos
