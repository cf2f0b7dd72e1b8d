// What the panels ask of an episode, computed once: so that a step only looks things up.
//
// A position p is 0..T. It shows the state p, and the turn that led to it: number p for people, row p - 1 of the columns.

import { Access, RedKind, readAction } from "./names.js";

export function indexEpisode(episode) {
  const { turn, state, names, network } = episode;
  const steps = turn.reward.length;
  const whatIf = whatIfByPosition(episode.what_if);
  const fixes = fixesByPosition(episode.workflow);
  const actions = names.actions.map((name) => readAction(name, names.hosts));
  return {
    episode,
    steps,
    actions,
    numHosts: names.hosts.length,
    foothold: network.foothold,
    serviceHost: network.service_host,
    marks: { ...marksOf(episode, actions, steps), tried: [...whatIf.keys()], broken: brokenFixes(fixes) },
    caughtSoFar: caughtSoFar(turn, steps, names.hosts.length),
    whatIf,
    fixes,
    end: state.total[steps],
  };
}

// Positions at which something happened that one looks for.
function marksOf({ turn, state }, actions, steps) {
  const marks = { won: [], escalated: [], caught: [], restored: [], down: [] };
  for (let p = 1; p <= steps; p++) {
    const t = p - 1;
    const succeeded = turn.red_success[t] === 1;
    if (turn.caught[t]) marks.caught.push(p);
    else if (turn.red_kind[t] === RedKind.EXPLOIT && succeeded) marks.won.push(p);
    if (turn.red_kind[t] === RedKind.ESCALATE && succeeded) marks.escalated.push(p);
    if (actions[turn.blue_action[t]]?.verb === "Restore") marks.restored.push(p);
    if (state.service[p] === 0) marks.down.push(p);
  }
  return marks;
}

// [p][h]: how often decoys on the host have taken an exploit up to position p.
function caughtSoFar(turn, steps, numHosts) {
  const rows = [new Array(numHosts).fill(0)];
  for (let t = 0; t < steps; t++) {
    const before = rows[t];
    if (!turn.caught[t]) rows.push(before);
    else rows.push(before.map((count, h) => count + (h === turn.red_target[t] ? 1 : 0)));
  }
  return rows;
}

function whatIfByPosition(whatIf) {
  const found = new Map();
  for (const [t, outcome] of Object.entries(whatIf?.steps ?? {})) found.set(Number(t) + 1, outcome);
  return found;
}

function fixesByPosition(workflow) {
  const found = new Map();
  for (const [t, unit, isCompliant] of workflow?.fixes ?? []) found.set(t + 1, { unit, isCompliant });
  return found;
}

function brokenFixes(fixes) {
  return [...fixes].filter(([, fix]) => !fix.isCompliant).map(([position]) => position);
}

// What followed from the state before the turn: what a value estimate can be held against.
export function returnFrom(index, position) {
  return index.end - index.episode.state.total[Math.max(0, position - 1)];
}

export function heldHosts(index, position) {
  const { access } = index.episode.state;
  const found = [];
  access[position].forEach((level, h) => level !== Access.NONE && h !== index.foothold && found.push(h));
  return found;
}
