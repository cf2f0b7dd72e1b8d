// The episode's numbers, as the field counts them.

import { html } from "./dom.js";
import { percent, written } from "./numbers.js";

const KNOWN = {
  mean_time_to_clear: ["Mean steps to clear an intrusion", written],
  without_effect: ["Actions without effect", percent],
  restore_precision: ["Restores of a held host", percent],
  remove_precision: ["Removes that removed something", percent],
  exploits: ["Exploits tried by Red", written],
  drawn_by_decoys: ["of these drawn by decoys", written],
};

export function createMetrics({ episode }) {
  const numbers = Object.entries(episode.metrics).filter(([, value]) => value === null || typeof value === "number");
  const rows = numbers.map(([name, value]) => {
    const [label, write] = KNOWN[name] ?? [plainName(name), written];
    return html("tr", {}, html("th", { scope: "row" }, label), html("td", {}, value === null ? "–" : write(value)));
  });
  const node = html("section", { class: "panel metrics", "aria-label": "Metrics" }, html("h2", {}, "Metrics"), html("table", {}, html("tbody", {}, ...rows)));
  return { node };
}

export function plainName(name) {
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
