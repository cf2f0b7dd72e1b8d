// What the page's address keeps: #t=12&layer=difference&episode=2 shows the same thing to whoever opens the link.

import { LAYERS } from "./names.js";

export function readAddress(hash) {
  const found = new URLSearchParams(hash.replace(/^#/, ""));
  const view = {};
  if (/^\d+$/.test(found.get("t") ?? "")) view.position = Number(found.get("t"));
  if (LAYERS.includes(found.get("layer"))) view.layer = found.get("layer");
  if (/^[1-9]\d*$/.test(found.get("episode") ?? "")) view.episode = Number(found.get("episode")) - 1;
  return view;
}

export function writeAddress(view, numEpisodes) {
  const episode = numEpisodes > 1 ? `&episode=${view.episode + 1}` : "";
  return `#t=${view.position}&layer=${view.layer}${episode}`;
}
