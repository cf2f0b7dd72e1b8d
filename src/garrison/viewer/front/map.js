// The network: a panel for each subnet, a card for each host, what Red and Blue do, and a sentence that counts.

import { cardView, hostTip } from "./card_view.js";
import { html, setAttributes, setText, svg } from "./dom.js";
import { heldHosts } from "./episode_index.js";
import { createFlags } from "./flags.js";
import { createCard } from "./host_card.js";
import { onWidth } from "./measure.js";
import { plural } from "./numbers.js";
import { groupHosts, placeMap } from "./place.js";
import { countVerdicts } from "./verdict.js";

let numMaps = 0; // two maps on one page need arrow heads with names of their own

export function createMap(index) {
  numMaps++;
  const heads = { won: `won-${numMaps}`, failed: `failed-${numMaps}`, caught: `caught-${numMaps}` };
  const drawing = svg("svg", { role: "img", class: "map" });
  const summary = html("p", { class: "map-summary" });
  const room = html("div", { class: "map-room" }, drawing);
  const node = html("section", { class: "panel map-panel", "aria-label": "Network map" }, summary, room);
  const groups = groupHosts(index.episode);
  let cards = [];
  let flags = null;
  let last = null;

  function draw(width) {
    const places = placeMap(width, groups);
    setAttributes(drawing, { width, height: places.height + 4, viewBox: `0 -2 ${width} ${places.height + 4}` });
    cards = [...places.cards].map(([host, box]) => [host, createCard(index, host, box)]);
    flags = createFlags(index, places, heads);
    drawing.replaceChildren(
      svg("defs", {}, ...Object.entries(heads).map(([outcome, id]) => arrowHead(id, outcome))),
      ...linkLines(index.episode, places),
      ...places.panels.map((panel) => panelOf(index.episode.names.subnets[panel.subnet], panel)),
      flags.below,
      ...cards.map(([, card]) => card.node),
      flags.above,
    );
    if (last) show(...last);
  }

  function show(position, layer) {
    last = [position, layer];
    for (const [host, card] of cards) {
      card.show(cardView(index, position, host, layer), hostTip(index, position, host));
    }
    flags?.show(position, layer);
    const text = summaryOf(index, position, layer);
    setText(summary, text);
    setAttributes(drawing, { "aria-label": `Network at step ${position}, ${layer}: ${text}`, "data-layer": layer });
  }

  onWidth(room, draw);
  return { node, show };
}

function summaryOf(index, position, layer) {
  const { names, state } = index.episode;
  if (layer === "difference") {
    const { unseen, clean, level, unsure, agree } = countVerdicts(index, position);
    const wrong = `${unseen} held but unseen, ${clean} believed but clean, ${level} at another level`;
    return `${wrong}, ${unsure} unsure, ${agree} agree.`;
  }
  if (layer === "believed") {
    const levels = state.belief[position].map((belief) => names.beliefs[belief].toLowerCase());
    const suspects = names.hosts.flatMap((name, h) => (state.belief[position][h] ? [`${name} ${levels[h]}`] : []));
    if (!suspects.length) return "Blue believes that nothing is compromised.";
    return `Blue believes compromised: ${suspects.join(", ")}.`;
  }
  const levels = state.access[position].map((access) => names.accesses[access].toLowerCase());
  const held = heldHosts(index, position).map((h) => `${names.hosts[h]} ${levels[h]}`);
  const service = state.service[position] === 0 ? " The operational service is down." : "";
  const beside = `beside its foothold ${names.hosts[index.foothold]}`;
  if (!held.length) return `Red holds nothing ${beside}.${service}`;
  return `Red holds ${plural(held.length, "host")} ${beside}: ${held.join(", ")}.${service}`;
}

function panelOf(name, { x, y, width, height }) {
  return svg(
    "g",
    { class: "subnet" },
    svg("rect", { x, y, width, height, rx: 12 }),
    svg("text", { x: x + 12, y: y + 21 }, name),
  );
}

function linkLines({ names, network }, { panels, isWide }) {
  return network.links.flatMap((link) => {
    const ends = link.map((name) => panels.find(({ subnet }) => names.subnets[subnet] === name));
    if (!ends.every(Boolean)) return [];
    const [a, b] = ends.sort((one, two) => one.x - two.x || one.y - two.y);
    const place = isWide
      ? { x1: a.x + a.width, y1: a.y + 17, x2: b.x, y2: b.y + 17 }
      : { x1: a.x + 40, y1: a.y + a.height, x2: b.x + 40, y2: b.y };
    return [svg("line", { class: "link", ...place })];
  });
}

// A point where Red got in, a wall where it did not.
function arrowHead(id, outcome) {
  const place = { refX: 8, refY: 5, markerWidth: 10, markerHeight: 10, orient: "auto", markerUnits: "userSpaceOnUse" };
  const d = outcome === "won" ? "M0 0L10 5L0 10Z" : "M6 0H9V10H6Z";
  return svg("marker", { id, viewBox: "0 0 10 10", ...place }, svg("path", { class: `arrow-head ${outcome}`, d }));
}
