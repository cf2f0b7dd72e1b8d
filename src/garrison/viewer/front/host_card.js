// A host on the map. Only what changed since the last step is drawn again.

import { createBadge } from "./badge.js";
import { setAttributes, setText, svg } from "./dom.js";
import { chipWidth, fitChips, fitEnds, shorten } from "./fit.js";
import { written } from "./numbers.js";
import { textWidth } from "./text_width.js";

const INSET = 13; // behind the stripe that shows the tone
const EDGE = 9;
const FIRST = 20; // baselines of the rows
const SECOND = 42;
const THIRD = 64;
const ROOMY = 205; // pixels from which words are whole

const inChip = (text) => textWidth(text, 10.5);

export function createCard(index, host, box) {
  const { names, network } = index.episode;
  const isRoomy = box.width >= ROOMY;
  const tip = svg("title");
  const badge = createBadge();
  const state = svg("text", { class: "state", x: INSET + 24, y: SECOND });
  const line = svg("text", { class: "line", x: INSET, y: THIRD });
  const notes = svg("g");
  const chips = svg("g");
  setAttributes(badge.node, { transform: `translate(${INSET + 9} ${SECOND - 4.5})` });
  const value = written(-network.value[host]) + (isRoomy ? "/step" : "");
  const system = network.windows[host] ? (isRoomy ? "Win" : "W") : isRoomy ? "Linux" : "L";
  const systemAt = box.width - EDGE - textWidth(value, 11) - 6 - chipWidth(system, inChip);
  const name = shorten(names.hosts[host], systemAt - INSET - 4, (text) => textWidth(text, 13, 600));
  const node = svg(
    "g",
    { class: "card", transform: `translate(${box.x} ${box.y})`, "data-host": host },
    tip,
    svg("rect", { class: "paper", width: box.width, height: box.height, rx: 8 }),
    svg("rect", { class: "frame", width: box.width, height: box.height, rx: 8 }),
    svg("path", { class: "stripe", d: stripe(box.height) }),
    svg("text", { class: "name", x: INSET, y: FIRST }, name),
    svg("text", { class: "value", x: box.width - EDGE, y: FIRST, "text-anchor": "end" }, value),
    chipAt(systemAt, FIRST, system, "system"),
    badge.node,
    state,
    notes,
    line,
    chips,
  );

  let shown = "";
  return {
    node,
    show(view, tipText) {
      setText(tip, tipText);
      const key = JSON.stringify(view);
      if (key === shown) return;
      shown = key;
      setAttributes(node, { class: `card tone-${view.tone}${view.isDashed ? " unknown-to-red" : ""}` });
      badge.show(view.badge, view.letter);
      const words = view.notes.map(({ kind, text, short }) => ({ kind, text: isRoomy ? text : short }));
      const noted = fitEnds(words, box.width - EDGE, inChip);
      const room = (noted.at(-1)?.x ?? box.width - 4) - INSET - 26;
      setText(state, shorten(view.text, room, (text) => textWidth(text, 12.5)));
      setText(line, shorten(view.line, box.width - INSET - EDGE, (text) => textWidth(text, 10.5)));
      notes.replaceChildren(...noted.map((note) => chipAt(note.x, SECOND, note.text, note.kind)));
      const ends = fitEnds(view.ends, box.width - EDGE, inChip);
      const left = (ends.at(-1)?.x ?? box.width - 4) - INSET - 4;
      chips.replaceChildren(
        ...fitChips(view.chips, left, inChip).map((chip) => chipAt(INSET + chip.x, THIRD, chip.text, "decoy")),
        ...ends.map((end) => chipAt(end.x, THIRD, end.text, end.kind)),
      );
    },
  };
}

// The left edge of the card, inside its rounded corners.
function stripe(height) {
  return `M7 0.5H8V${height - 0.5}H7A6.5 6.5 0 0 1 0.5 ${height - 7}V7A6.5 6.5 0 0 1 7 0.5Z`;
}

function chipAt(x, baseline, text, kind) {
  const width = chipWidth(text, inChip);
  return svg(
    "g",
    { class: `chip ${kind}`, transform: `translate(${x.toFixed(1)} ${baseline - 12})` },
    svg("rect", { width: width.toFixed(1), height: 16, rx: 4 }),
    svg("text", { x: (width / 2).toFixed(1), y: 12, "text-anchor": "middle" }, text),
  );
}
