// What the codes of an episode mean (docs/watch.md).

export const Access = { NONE: 0, USER: 1, PRIVILEGED: 2 };
export const Belief = { NO: 0, UNKNOWN: 1, USER: 2, PRIVILEGED: 3 };
export const Activity = { NONE: 0, SCAN: 1, EXPLOIT: 3 };
export const RedKind = { SLEEP: 0, SWEEP: 1, SCAN: 2, EXPLOIT: 3, ESCALATE: 4, IMPACT: 5, INVALID: 6 };
export const RED_VERBS = ["sleeps", "sweep", "scan", "exploit", "escalate", "impact", "invalid"];
export const LAYERS = ["true", "believed", "difference"];

// "Restore Op_Server0" is the verb Restore on a host; Sleep and Monitor have none.
export function readAction(name, hosts) {
  const gap = name.indexOf(" ");
  const verb = gap < 0 ? name : name.slice(0, gap);
  return { name, verb, host: gap < 0 ? -1 : hosts.indexOf(name.slice(gap + 1)) };
}

export function shortDecoy(name) {
  return name.startsWith("Decoy") ? name.slice(5) : name;
}
