// What the policy thought before the turn: its likeliest actions, its estimate of what would follow, what it may not do.

import { html, setAttributes, setShown, setText } from "./dom.js";
import { returnFrom } from "./episode_index.js";
import { percent, plural, written } from "./numbers.js";

const SMALLEST = 0.0005; // a smaller one would be written as 0.0 %

export function createPolicy(index) {
  const { policy, names, turn } = index.episode;
  const estimate = html("p", { class: "small" });
  const list = html("ol", { class: "choices" });
  const summary = html("summary");
  const struck = html("p", { class: "masked" });
  const masked = html("details", {}, summary, struck);
  const title = html("h2", {}, "Policy");
  const node = html("section", { class: "panel policy", "aria-label": "Policy" }, title, estimate, list, masked);
  const rows = [];
  let current = 0;

  function rowAt(k) {
    while (rows.length <= k) {
      const row = { name: html("span", { class: "choice" }), bar: html("i"), chance: html("span", { class: "number" }) };
      row.node = html("li", {}, row.name, html("span", { class: "track" }, row.bar), row.chance);
      rows.push(row);
      list.append(row.node);
    }
    return rows[k];
  }

  function listMasked() {
    if (!masked.open) return;
    const ids = current > 0 ? (policy.masked[current - 1] ?? []) : [];
    struck.replaceChildren(...ids.flatMap((id) => [html("s", {}, names.actions[id]), " "]));
  }

  masked.addEventListener("toggle", listMasked);
  return {
    node,
    show(position) {
      current = position;
      const t = position - 1;
      const top = t < 0 ? [] : policy.top[t];
      const forbidden = new Set(t < 0 ? [] : (policy.masked[t] ?? []));
      const value = t < 0 ? null : policy.value[t];
      setText(estimate, t < 0 ? "It has not chosen yet." : valueText(value, returnFrom(index, position)));
      top.forEach(([action, chance], k) => {
        const row = rowAt(k);
        const marks = [
          action === turn.blue_action[t] ? "played" : "",
          forbidden.has(action) ? "is-masked" : "",
          chance < SMALLEST ? "is-faint" : "",
        ];
        setAttributes(row.node, { class: marks.join(" ") });
        setText(row.name, names.actions[action]);
        setText(row.chance, chance < SMALLEST ? "< 0.1\u00a0%" : percent(chance, 1));
        row.bar.style.width = `${100 * chance}%`;
      });
      rows.forEach((row, k) => setShown(row.node, k < top.length));
      setShown(masked, forbidden.size > 0);
      setText(summary, `${plural(forbidden.size, "action")} masked`);
      listMasked();
    },
  };
}

// A critic learns the discounted return of a game that goes on: near the end it is far from what is left.
function valueText(value, followed) {
  const known = `the rest of the episode brought ${written(followed)}`;
  if (value === null) return `No value estimate; ${known}.`;
  return `Value estimate ${written(value)}, discounted and as if the game went on; ${known}.`;
}
