// What Red and Blue do in a turn, as the map shows it.

import { RED_VERBS, RedKind } from "./names.js";

// Red's move at a position: what, where, with which outcome; null where it does nothing that has a place.
export function redMove(index, position) {
  if (position === 0) return null;
  const { turn } = index.episode;
  const t = position - 1;
  const kind = turn.red_kind[t];
  const target = turn.red_target[t];
  if (target < 0 || kind === RedKind.SLEEP) return null;
  const outcome = turn.caught[t] ? "caught" : turn.red_success[t] === 1 ? "won" : "failed";
  const sign = { caught: "caught", won: "✓", failed: "✕" }[outcome];
  return { kind, target, outcome, text: `${RED_VERBS[kind]} ${sign}` };
}

// Blue's move: its verb and host; null for Sleep and Monitor.
export function blueMove(index, position) {
  if (position === 0) return null;
  const action = index.actions[index.episode.turn.blue_action[position - 1]];
  return action && action.host >= 0 ? action : null;
}
