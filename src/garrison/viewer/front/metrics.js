// The episode's numbers, as the field counts them.

import { html } from "./dom.js";
import { percent, written } from "./numbers.js";

const KNOWN = {
  mean_time_to_clear: ["Mean steps to clear an intrusion", written],
  cleared: ["Intrusions cleared", written],
  held_unseen: ["Host steps held but unseen", written],
  believed_clean: ["Host steps believed but clean", written],
  without_effect: ["Actions without effect", percent],
  restores: ["Restores", written],
  restore_precision: ["Restores that ended a session", percent],
  false_alarms: ["Restores of a clean host", written],
  removes: ["Removes", written],
  remove_precision: ["Removes that ended a session", percent],
  decoys_placed: ["Decoys placed", written],
  exploits: ["Exploits tried by Red", written],
  exploits_won: ["Exploits won", written],
  drawn_by_decoys: ["Exploits drawn by decoys", written],
  service_down: ["Steps with the service down", written],
  cost_of_hosts: ["Reward from held hosts", written],
  cost_of_service: ["Reward from the service", written],
  cost_of_actions: ["Reward from Blue's actions", written],
};

export function createMetrics({ episode }) {
  const rows = orderedMetrics(episode.metrics).map(([name, value]) => {
    const [label, write] = KNOWN[name] ?? [plainName(name), written];
    return html("div", {}, html("dt", {}, label), html("dd", {}, write(value)));
  });
  const node = html(
    "section",
    { class: "panel metrics", "aria-label": "Metrics" },
    html("h2", {}, "Metrics"),
    html("dl", {}, ...rows),
    html("p", { class: "small" }, `Recorded by Garrison ${episode.garrison}; encoder ${episode.encoder}.`),
  );
  return { node };
}

// The known ones in the order above, then whatever else a newer recorder counts.
export function orderedMetrics(metrics) {
  const numbers = Object.entries(metrics).filter(([, value]) => value === null || typeof value === "number");
  const order = Object.keys(KNOWN);
  const place = ([name]) => (order.includes(name) ? order.indexOf(name) : order.length);
  return numbers.sort((one, other) => place(one) - place(other));
}

export function plainName(name) {
  const words = name.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
