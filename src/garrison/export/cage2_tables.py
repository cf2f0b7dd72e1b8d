"""What a program needs to make a CAGE-2 network's inputs of the challenge's 52 bits: the facts as plain values."""

from typing import Any

import numpy as np

from garrison.cage2.action_sets import ACTION_IDS
from garrison.cage2.defender_history import EVENT_AGES, EXPLOIT_COUNTS, REMOVE_AGES, RESTORE_AGES, WATCHED
from garrison.cage2.defender_memory import CLOCK, DECOY_SLOTS, SINCE
from garrison.cage2.layout import NUM_PAST_EVENTS
from garrison.cage2.names import DECOY_BLOCK, FIRST_BLOCK, NUM_ACTIONS, REMOVE_BLOCK, RESTORE_BLOCK, Host
from garrison.cage2.scenario import load_scenario
from garrison.errors import UserError


def cage2_tables(env: dict[str, Any], masked: bool) -> dict[str, Any]:
    """Return the tables for the settings of the environments that a network was trained on."""
    if env.get("belief", False):
        raise UserError("a network that reads beliefs cannot be exported: beliefs need the simulator itself.")
    sc: Any = load_scenario(None, env["rules"], env["challenge_encoder"]).view(np.recarray)[0]
    return {
        "rules": env["rules"],
        "encoder": env["challenge_encoder"],
        "observation": env["observation"],
        "masked": masked,
        "num_actions": NUM_ACTIONS,
        "action_ids": ACTION_IDS[env["actions"]].tolist(),
        "first_block": FIRST_BLOCK,
        "decoy_block": DECOY_BLOCK,
        "remove_block": REMOVE_BLOCK,
        "restore_block": RESTORE_BLOCK,
        "user0": int(Host.USER0),
        "image_ports": [int(x) for x in sc.image_ports],
        "windows": [int(x) for x in sc.windows],
        "only_on": [int(x) for x in sc.only_on],
        "checks": [int(x) for x in sc.checks],
        "opens": [int(x) for x in sc.opens],
        "decoy_slots": [list(slot) for slot in DECOY_SLOTS],
        "clock": CLOCK.tolist(),
        "since": SINCE.tolist(),
        "watched": list(WATCHED),
        "event_ages": EVENT_AGES.tolist(),
        "restore_ages": RESTORE_AGES.tolist(),
        "remove_ages": REMOVE_AGES.tolist(),
        "exploit_counts": EXPLOIT_COUNTS.tolist(),
        "past_events": NUM_PAST_EVENTS,
    }
