// This turn on the map: an arrow to Red's target, a ring around Blue's, and a flag of each on the edge of its card.

import { setAttributes, setDrawn, setText, svg } from "./dom.js";
import { blueMove, redMove } from "./moves.js";
import { RedKind } from "./names.js";
import { route } from "./route.js";
import { textWidth } from "./text_width.js";

const HEIGHT = 17;
const INDENT = 8;

export function createFlags(index, places, heads) {
  const line = svg("path", { class: "trail" });
  const ring = svg("rect", { class: "aim", rx: 11 });
  const red = createFlag("red");
  const blue = createFlag("blue");

  function showRed(move, to) {
    for (const node of [red.node, line]) setDrawn(node, Boolean(to));
    if (!to) return 0;
    const way = route(places.cards.get(index.foothold), to);
    const head = heads[move.outcome];
    setAttributes(line, { d: way, class: `trail ${move.outcome}`, "marker-end": `url(#${head})` });
    const width = red.write(`R ${move.text}`, move.outcome);
    red.moveTo(to.x + INDENT, to.y);
    return width;
  }

  // Where both flags want one edge and it is too short for them, Blue's goes to the lower one.
  function showBlue(move, aim, redWidth) {
    for (const node of [blue.node, ring]) setDrawn(node, Boolean(aim));
    if (!aim) return;
    const width = blue.write(`B ${move.verb}`, "");
    const isCrowded = redWidth + width + 3 * INDENT > aim.width;
    blue.moveTo(aim.x + aim.width - INDENT - width, isCrowded ? aim.y + aim.height + 6 : aim.y);
    setAttributes(ring, { x: aim.x - 3, y: aim.y - 3, width: aim.width + 6, height: aim.height + 6 });
  }

  return {
    below: svg("g", {}, line, ring),
    above: svg("g", {}, red.node, blue.node),
    // What Blue believes has no arrow: Blue sees what Red does only where it sees it.
    show(position, layer) {
      const attack = layer === "believed" ? null : redMove(index, position);
      const to = attack && boxOf(attack, places);
      const redWidth = showRed(attack, to);
      const defence = blueMove(index, position);
      const aim = defence && places.cards.get(defence.host);
      showBlue(defence, aim, aim && aim === to ? redWidth : 0);
    },
  };
}

// A sweep goes to a subnet: to the head of its panel.
function boxOf(move, places) {
  if (move.kind !== RedKind.SWEEP) return places.cards.get(move.target) ?? null;
  const panel = places.panels.find(({ subnet }) => subnet === move.target);
  return panel ? { x: panel.x + panel.width / 3, y: panel.y + 17, width: (2 * panel.width) / 3, height: 0 } : null;
}

function createFlag(side) {
  const box = svg("rect", { height: HEIGHT, rx: 4 });
  const text = svg("text", { x: 5, y: 12.5 });
  const node = svg("g", { class: `flag ${side}` }, box, text);
  return {
    node,
    write(words, outcome) {
      const width = Math.ceil(textWidth(words, 11, 600)) + 10;
      setText(text, words);
      setAttributes(box, { width });
      setAttributes(node, { class: `flag ${side} ${outcome}` });
      return width;
    },
    moveTo(x, y) {
      setAttributes(node, { transform: `translate(${x.toFixed(1)} ${(y - HEIGHT / 2 - 3).toFixed(1)})` });
    },
  };
}
