// A host on the map. Only what changed since the last step is drawn again.

import { createBadge } from "./badge.js";
import { setAttributes, setText, svg } from "./dom.js";
import { chipWidth, fitChips, fitEnds, shorten } from "./fit.js";
import { written } from "./numbers.js";

const INSET = 12; // behind the stripe that shows the tone
const SECOND = 42; // baselines of the second and third row
const THIRD = 64;
const ROOMY = 215; // pixels from which notes are whole words

export function createCard(index, host, box) {
  const { names, network } = index.episode;
  const tip = svg("title");
  const badge = createBadge();
  const state = svg("text", { class: "state", x: INSET + 24, y: SECOND });
  const line = svg("text", { class: "line", x: INSET, y: THIRD });
  const notes = svg("g");
  const chips = svg("g");
  setAttributes(badge.node, { transform: `translate(${INSET + 9} ${SECOND - 5})` });
  const system = network.windows[host] ? "Win" : "Linux";
  const value = box.width >= 190 ? `${written(-network.value[host])}/step` : written(-network.value[host]);
  const valueRoom = value.length * 6 + 8;
  const nameRoom = box.width - INSET - 10 - valueRoom - chipWidth(system);
  const frame = svg("rect", { class: "frame", width: box.width, height: box.height, rx: 8 });
  const node = svg(
    "g",
    { class: "card", transform: `translate(${box.x} ${box.y})`, "data-host": host },
    tip,
    svg("rect", { class: "paper", width: box.width, height: box.height, rx: 8 }),
    frame,
    svg("path", { class: "stripe", d: `M6 0.5H8V${box.height - 0.5}H6A6 6 0 0 1 0.5 ${box.height - 6.5}V6.5A6 6 0 0 1 6 0.5Z` }),
    svg("text", { class: "name", x: INSET, y: 20 }, shorten(names.hosts[host], nameRoom, 7.4)),
    svg("text", { class: "value", x: box.width - 10, y: 20, "text-anchor": "end" }, value),
    chipAt(box.width - 10 - valueRoom - chipWidth(system), 20, system, "system"),
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
      setText(state, view.text);
      setText(line, shorten(view.line, box.width - INSET - 8, 5.6));
      notes.replaceChildren(...noteChips(view, box.width));
      const ends = fitEnds(view.ends, box.width - 10);
      const room = (ends.at(-1)?.x ?? box.width - 6) - INSET - 4;
      chips.replaceChildren(
        ...fitChips(view.chips, room).map((chip) => chipAt(INSET + chip.x, THIRD, chip.text, "decoy")),
        ...ends.map((end) => chipAt(end.x, THIRD, end.text, end.kind)),
      );
    },
  };
}

function noteChips(view, width) {
  const ends = view.notes.map((note) => ({ kind: note.kind, text: width >= ROOMY ? note.text : note.short }));
  return fitEnds(ends, width - 10).map((end) => chipAt(end.x, SECOND, end.text, end.kind));
}

function chipAt(x, baseline, text, kind) {
  const width = chipWidth(text);
  return svg(
    "g",
    { class: `chip ${kind}`, transform: `translate(${x.toFixed(1)} ${baseline - 12})` },
    svg("rect", { width: width.toFixed(1), height: 16, rx: 4 }),
    svg("text", { x: (width / 2).toFixed(1), y: 12, "text-anchor": "middle" }, text),
  );
}
