// True, Believed, Difference: which of the three the maps show, and what their signs mean.

import { html, setAttributes } from "./dom.js";
import { LAYERS } from "./names.js";

const ABOUT = {
  true: ["What is the case", "octagon P: privileged, triangle U: user; M or malware: a file of Red's; dashed frame: unknown to Red; small boxes: decoys"],
  believed: ["What Blue believes", "its sticky belief about each host, and what it saw in this step"],
  difference: ["Where belief and truth differ", "octagon !: held but unseen; dashed ?: believed but clean; triangle ≠: another level; =: agreement"],
};

export function createLayerSwitch(choose) {
  const about = html("p", { class: "layer-about" });
  const buttons = LAYERS.map((layer, k) => {
    const button = html("button", { type: "button", "data-layer": layer, title: `${ABOUT[layer][0]} (key ${k + 1})` }, layer.charAt(0).toUpperCase() + layer.slice(1));
    button.addEventListener("click", () => choose(layer));
    return button;
  });
  const node = html("div", { class: "layers" }, html("div", { class: "segments", role: "group", "aria-label": "Layer of the map" }, ...buttons), about);
  return {
    node,
    show({ layer }) {
      for (const button of buttons) setAttributes(button, { "aria-pressed": button.dataset.layer === layer });
      about.replaceChildren(html("strong", {}, ABOUT[layer][0]), `: ${ABOUT[layer][1]}.`);
    },
  };
}
