// True, Believed, Difference: which of the three the maps show, and what their signs mean.

import { createBadge } from "./badge.js";
import { BELIEVED, COMPARED, HELD } from "./card_view.js";
import { html, setAttributes, svg } from "./dom.js";
import { LAYERS } from "./names.js";

const LEGENDS = {
  true: { about: "What is the case", states: HELD, more: ["dashed frame: unknown to Red"] },
  believed: { about: "What Blue believes", states: BELIEVED, more: ["scan or exploit seen: in this turn"] },
  difference: { about: "Where belief and truth differ", states: Object.values(COMPARED), more: [] },
};

export function createLayerSwitch(choose) {
  const legend = html("p", { class: "legend" });
  const buttons = LAYERS.map((layer, k) => {
    const name = layer.charAt(0).toUpperCase() + layer.slice(1);
    const title = `${LEGENDS[layer].about} (key ${k + 1})`;
    const button = html("button", { type: "button", "data-layer": layer, title }, name);
    button.addEventListener("click", () => choose(layer));
    return button;
  });
  const group = html("div", { class: "segments", role: "group", "aria-label": "Layer of the map" }, ...buttons);
  let shown = "";
  return {
    node: html("div", { class: "layers" }, group, legend),
    show({ layer }) {
      if (layer === shown) return;
      shown = layer;
      for (const button of buttons) setAttributes(button, { "aria-pressed": button.dataset.layer === layer });
      const { about, states, more } = LEGENDS[layer];
      const words = more.map((text) => html("span", {}, text));
      legend.replaceChildren(html("strong", {}, about), ...states.map(legendEntry), ...words);
    },
  };
}

function legendEntry({ tone, badge, letter, text }) {
  const sign = createBadge();
  sign.show(badge, letter);
  const box = { width: 22, height: 22, viewBox: "-11 -11 22 22", "aria-hidden": "true" };
  return html("span", { class: "entry" }, svg("svg", { class: `tone-${tone}`, ...box }, sign.node), text);
}
