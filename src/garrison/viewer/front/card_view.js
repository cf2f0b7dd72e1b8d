// What a host's card says at a position in a layer. A tone is a colour; a badge is a shape with a letter that says the same.

import { Access, Activity, shortDecoy } from "./names.js";
import { plural } from "./numbers.js";
import { verdict } from "./verdict.js";

export const HELD = [
  { tone: "none", badge: "ring", letter: "", text: "not held" },
  { tone: "user", badge: "triangle", letter: "U", text: "user" },
  { tone: "privileged", badge: "octagon", letter: "P", text: "privileged" },
];
export const BELIEVED = [
  { tone: "none", badge: "ring", letter: "", text: "no compromise" },
  { tone: "unknown", badge: "dashed", letter: "?", text: "unknown level" },
  HELD[Access.USER],
  HELD[Access.PRIVILEGED],
];
export const COMPARED = {
  agree: { tone: "agree", badge: "ring", letter: "=", text: "agrees" },
  unseen: { tone: "privileged", badge: "octagon", letter: "!", text: "held, unseen" },
  clean: { tone: "blue", badge: "diamond", letter: "0", text: "believed, clean" },
  level: { tone: "user", badge: "triangle", letter: "≠", text: "other level" },
  unsure: { tone: "unknown", badge: "dashed", letter: "?", text: "Blue is unsure" },
  foothold: { tone: "none", badge: "ring", letter: "F", text: "foothold" },
};
const IN_SHORT = ["clean", "unknown", "user", "privileged"];
const SEEN = { [Activity.SCAN]: "scan seen", [Activity.EXPLOIT]: "exploit seen" };

export function cardView(index, position, host, layer) {
  const { state } = index.episode;
  const access = state.access[position][host];
  const belief = state.belief[position][host];
  if (layer === "believed") return believedView(index, position, host, belief);
  if (layer === "difference") {
    const found = COMPARED[verdict(access, belief, host === index.foothold)];
    const both = `is ${HELD[access].text}, believed ${IN_SHORT[belief]}`;
    return { ...found, isDashed: false, notes: [], chips: [], ends: [], line: both };
  }
  return trueView(index, position, host, access);
}

function trueView(index, position, host, access) {
  const { state } = index.episode;
  const sessions = state.sessions[position][host];
  const text = sessions > 1 ? `${HELD[access].text} ×${sessions}` : HELD[access].text;
  const notes = [];
  if (state.malware[position][host]) notes.push({ text: "malware", short: "M", kind: "malware" });
  const hidden = state.hidden[position][host];
  if (hidden) notes.push({ text: `${hidden} hidden`, short: `h${hidden}`, kind: "hidden" });
  const ends = caughtEnds(index, position, host);
  if (host === index.serviceHost) ends.push(serviceEnd(state, position));
  return {
    ...HELD[access],
    text,
    isDashed: state.known[position][host] === 0,
    notes,
    chips: decoysOn(index, position, host),
    ends,
    line: "",
  };
}

function believedView(index, position, host, belief) {
  const activity = index.episode.state.activity[position][host];
  const ends = activity in SEEN ? [{ text: SEEN[activity], kind: "seen" }] : [];
  return { ...BELIEVED[belief], isDashed: false, notes: [], chips: decoysOn(index, position, host), ends, line: "" };
}

function decoysOn(index, position, host) {
  const mask = index.episode.state.decoys[position][host];
  return index.episode.names.decoys.filter((_, d) => (mask >> d) & 1).map(shortDecoy);
}

function caughtEnds(index, position, host) {
  const count = index.caughtSoFar[position][host];
  if (!count) return [];
  const isNow = position > 0 && count > index.caughtSoFar[position - 1][host];
  return [{ text: isNow ? `caught! ${count}` : `caught ${count}`, kind: isNow ? "caught now" : "caught" }];
}

function serviceEnd(state, position) {
  if (state.service[position] === 0) return { text: "OT stopped", kind: "stopped" };
  return state.shielded[position] ? { text: "OT shielded", kind: "shielded" } : { text: "OT running", kind: "running" };
}

// The whole truth and belief about a host: what the pointer shows over its card.
export function hostTip(index, position, host) {
  const { names, state, network } = index.episode;
  const decoys = decoysOn(index, position, host);
  const parts = [
    `${names.hosts[host]} (${names.subnets[network.subnet[host]]}, ${network.windows[host] ? "Windows" : "Linux"})`,
    `Red: ${HELD[state.access[position][host]].text}, ${plural(state.sessions[position][host], "session")}, ` +
      ["host unknown to Red", "address known to Red", "hostname known to Red"][state.known[position][host]],
    `Blue believes: ${BELIEVED[state.belief[position][host]].text}`,
    `A step with Red privileged here costs ${network.value[host]}`,
  ];
  if (state.malware[position][host]) parts.push("Red's malware lies here: Analyse would find it");
  if (decoys.length) {
    const taken = plural(index.caughtSoFar[position][host], "exploit");
    parts.push(`Decoys: ${decoys.join(", ")}; they took ${taken}`);
  }
  return parts.join("\n");
}
