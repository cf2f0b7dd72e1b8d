// What Blue's belief about a host is worth: the layer "Difference".

import { Access, Belief } from "./names.js";

// Red's foothold is always held and never shown to Blue: that says nothing about a defender.
export function verdict(access, belief, isFoothold) {
  if (isFoothold) return "foothold";
  if (belief === Belief.UNKNOWN) return "unsure";
  if (access === Access.NONE) return belief === Belief.NO ? "agree" : "clean";
  if (belief === Belief.NO) return "unseen";
  return belief - 1 === access ? "agree" : "level";
}

export function countVerdicts(index, position) {
  const counts = { agree: 0, clean: 0, unseen: 0, level: 0, unsure: 0, foothold: 0 };
  const { access, belief } = index.episode.state;
  for (let h = 0; h < index.numHosts; h++) {
    counts[verdict(access[position][h], belief[position][h], h === index.foothold)]++;
  }
  return counts;
}
