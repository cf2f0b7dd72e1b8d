// The head of the page: who plays whom, under which rules, with which total; the choice of an episode.

import { html } from "./dom.js";
import { written } from "./numbers.js";

export function createHead(page, { pick, tools }) {
  const choice = page.pair === null && page.episodes.length > 1 ? createPicker(page.episodes, pick) : null;
  const facts = html("div", { class: "facts" });
  const node = html(
    "header",
    { class: "head" },
    html("div", { class: "head-title" }, html("h1", {}, page.title), facts),
    html("div", { class: "head-tools" }, choice?.node ?? null, ...tools),
  );
  return {
    node,
    show(episodes, chosen) {
      facts.replaceChildren(...episodes.map(factsOf));
      choice?.show(chosen);
    },
  };
}

function factsOf(episode) {
  const facts = [
    ["Agent", episode.agent.name],
    ["Red", episode.red],
    ["Rules", episode.rules],
    ["Seed", String(episode.seed)],
    ["Steps", String(episode.length)],
    ["Total", written(episode.total)],
  ];
  return html("dl", {}, ...facts.map(([name, value]) => html("div", {}, html("dt", {}, name), html("dd", { class: name === "Total" ? "total" : "" }, value))));
}

function createPicker(episodes, pick) {
  const select = html("select", { "aria-label": "Episode" }, ...episodes.map((episode, k) => html("option", { value: k }, episodeName(episode, k))));
  select.addEventListener("change", () => pick(Number(select.value)));
  return { node: select, show: (chosen) => (select.value = String(chosen)) };
}

export function episodeName(episode, k) {
  const label = episode.label ? `${episode.label}: ` : `${k + 1}. `;
  return `${label}${episode.agent.name}, ${episode.red}, seed ${episode.seed}, total ${written(episode.total)}`;
}
