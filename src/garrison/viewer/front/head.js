// The head of the page: who plays whom, under which rules, with which total; the choice of an episode.

import { html } from "./dom.js";
import { written } from "./numbers.js";

export function createHead(page, { pick, tools }) {
  const choice = page.pair === null && page.episodes.length > 1 ? createPicker(page.episodes, pick) : null;
  const facts = html("div", { class: "head-facts" });
  const node = html(
    "header",
    { class: "page-head" },
    html("div", { class: "head-title" }, html("h1", {}, page.title), facts),
    html("div", { class: "head-tools" }, choice?.node ?? null, ...tools),
  );
  return {
    node,
    // Two episodes have their facts above their maps.
    show(episodes, chosen) {
      if (page.pair === null) facts.replaceChildren(...episodes.map(createFacts));
      choice?.show(chosen);
    },
  };
}

export function createFacts(episode) {
  const facts = [
    ["Agent", episode.agent.name],
    ["Red", episode.red],
    ["Total", written(episode.total)],
    ["Rules", episode.rules],
    ["Seed", String(episode.seed)],
  ];
  const entry = ([name, value]) =>
    html("div", { class: name.toLowerCase() }, html("dt", {}, name), html("dd", {}, value));
  return html("dl", { class: "facts" }, ...facts.map(entry));
}

function createPicker(episodes, pick) {
  const options = episodes.map((episode, k) => html("option", { value: k }, episodeName(episode, k)));
  const select = html("select", { "aria-label": "Episode" }, ...options);
  select.addEventListener("change", () => pick(Number(select.value)));
  return { node: select, show: (chosen) => (select.value = String(chosen)) };
}

// "worst of 1,000: −45.2, seed 7"; those of several agents are named by them.
export function episodeName(episode, k) {
  const label = episode.label || `${k + 1}. ${episode.agent.name} against ${episode.red}`;
  return `${label}: ${written(episode.total)}, seed ${episode.seed}`;
}
