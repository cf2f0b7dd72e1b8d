// What Red and Blue do in this turn: an arrow to Red's target, and a flag of each on the edge of its target.

import { setAttributes, setDrawn, setText, svg } from "./dom.js";
import { RED_VERBS, RedKind } from "./names.js";
import { route } from "./route.js";

const LETTER_WIDTH = 6.4;
const HEIGHT = 17;

export function createFlags(index, places, heads) {
  const line = svg("path", { class: "trail" });
  const halo = svg("path", { class: "trail-halo" });
  const ring = svg("rect", { class: "aim", rx: 10 });
  const red = createFlag("red");
  const blue = createFlag("blue");
  const node = svg("g", { class: "flags" }, halo, line, ring, red.node, blue.node);

  return {
    node,
    show(position) {
      const turn = position > 0 ? redMove(index, position - 1) : null;
      const to = turn && boxOf(turn, places);
      setDrawn(red.node, Boolean(to));
      for (const path of [halo, line]) setDrawn(path, Boolean(to));
      if (to) {
        const way = route(places.cards.get(index.foothold), to);
        setAttributes(halo, { d: way });
        const head = turn.outcome === "won" ? heads.won : heads.blunt;
        setAttributes(line, { d: way, class: `trail ${turn.outcome}`, "marker-end": `url(#${head})` });
        red.show(to.x + 10, to.y, turn.text, turn.outcome);
      }
      const move = position > 0 ? index.actions[index.episode.turn.blue_action[position - 1]] : null;
      const aim = move && places.cards.get(move.host);
      setDrawn(blue.node, Boolean(aim));
      setDrawn(ring, Boolean(aim));
      if (aim) {
        blue.show(aim.x + aim.width - 10, aim.y, move.verb, "");
        setAttributes(ring, { x: aim.x - 3, y: aim.y - 3, width: aim.width + 6, height: aim.height + 6 });
      }
    },
  };
}

function redMove(index, t) {
  const { turn } = index.episode;
  const kind = turn.red_kind[t];
  const target = turn.red_target[t];
  if (target < 0 || kind === RedKind.SLEEP) return null;
  const outcome = turn.caught[t] ? "caught" : turn.red_success[t] === 1 ? "won" : "failed";
  const sign = { caught: "caught", won: "✓", failed: "✕" }[outcome];
  return { kind, target, outcome, text: `${RED_VERBS[kind]} ${sign}` };
}

// A sweep goes to a subnet: to the head of its panel.
function boxOf(move, places) {
  if (move.kind !== RedKind.SWEEP) return places.cards.get(move.target) ?? null;
  const panel = places.panels.find(({ subnet }) => subnet === move.target);
  return panel ? { x: panel.x, y: panel.y + 9, width: panel.width, height: 12 } : null;
}

function createFlag(side) {
  const box = svg("rect", { height: HEIGHT, rx: 4 });
  const text = svg("text", { y: 12.5 });
  const node = svg("g", { class: `flag ${side}` }, box, text);
  return {
    node,
    show(x, y, words, outcome) {
      const label = `${side === "red" ? "R" : "B"} ${words}`;
      const width = label.length * LETTER_WIDTH + 10;
      setText(text, label);
      setAttributes(text, { x: 5 });
      setAttributes(box, { width: width.toFixed(1) });
      const left = side === "red" ? x : x - width;
      setAttributes(node, { class: `flag ${side} ${outcome}`, transform: `translate(${left.toFixed(1)} ${y - HEIGHT / 2 - 2})` });
    },
  };
}
