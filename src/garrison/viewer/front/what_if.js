// What if: the mean return to the end after each action, over many continuations, and the regret of the one played.

import { html, setAttributes, setShown, setText } from "./dom.js";
import { plural, written } from "./numbers.js";

const FEW = 10;

export function createWhatIf(index, jump) {
  const sentence = html("p", { class: "small" });
  const list = html("ol", { class: "choices what-if" });
  const more = html("button", { type: "button", class: "plain" });
  const next = html("button", { type: "button", class: "plain" }, "Next step with one");
  const worst = html("button", { type: "button", class: "plain" }, "Largest regret");
  const node = html(
    "section",
    { class: "panel what-if-panel", "aria-label": "What if" },
    html("h2", {}, "What if"),
    sentence,
    list,
    html("p", { class: "buttons" }, more, next, worst),
  );
  const { what_if, names } = index.episode;
  const positions = [...index.whatIf.keys()].sort((a, b) => a - b);
  let isWhole = false;
  let current = 0;

  function show(position) {
    current = position;
    const outcome = index.whatIf.get(position);
    setShown(more, Boolean(outcome) && outcome.actions.length > FEW);
    setShown(next, positions.some((p) => p !== position));
    if (!outcome) {
      const how = `Nothing was tried out here; --what-if ${position} does it.`;
      setText(sentence, position === 0 ? "Nothing was played yet." : how);
      list.replaceChildren();
      return;
    }
    const ranked = rankOutcomes(outcome);
    const shown = isWhole ? ranked : fewOutcomes(ranked, outcome.played);
    setText(sentence, whatIfText(outcome, ranked, names, what_if.continuations));
    setText(more, isWhole ? "Show the best" : `Show all ${ranked.length}`);
    const scale = outcomeScale(shown);
    const masked = new Set(index.episode.policy?.masked?.[position - 1] ?? []);
    list.replaceChildren(...shown.map((row) => outcomeRow(row, outcome.played, names, scale, masked)));
  }

  more.addEventListener("click", () => {
    isWhole = !isWhole;
    show(current);
  });
  next.addEventListener("click", () => jump(positions.find((p) => p > current) ?? positions[0]));
  worst.addEventListener("click", () => jump(largestRegret(index.whatIf)));
  return { node, show };
}

export function largestRegret(whatIf) {
  return [...whatIf].reduce((most, one) => (one[1].regret > most[1].regret ? one : most))[0];
}

// The best first; of equal ones the one that was played.
export function rankOutcomes({ actions, mean, ci95, played }) {
  const rows = actions.map((action, k) => ({ action, mean: mean[k], ci: ci95[k] }));
  return rows.sort((a, b) => b.mean - a.mean || (b.action === played) - (a.action === played));
}

// The best few, and the one that was played wherever it stands.
export function fewOutcomes(ranked, played) {
  const few = ranked.slice(0, FEW);
  if (!few.some(({ action }) => action === played)) few.push(...ranked.filter(({ action }) => action === played));
  return few;
}

function outcomeScale(rows) {
  const low = Math.min(...rows.map(({ mean, ci }) => mean - ci));
  const high = Math.max(...rows.map(({ mean, ci }) => mean + ci));
  const best = Math.max(...rows.map(({ mean }) => mean));
  const place = (value) => (high > low ? (100 * (value - low)) / (high - low) : 50);
  return { place, best };
}

// The bar is what the action loses against the best of all; the line is its 95 % interval.
function outcomeRow({ action, mean, ci }, played, names, { place, best }, masked) {
  const bar = html("i");
  const interval = html("u");
  bar.style.left = `${place(mean)}%`;
  bar.style.width = `${place(best) - place(mean)}%`;
  interval.style.left = `${place(mean - ci)}%`;
  interval.style.width = `${place(mean + ci) - place(mean - ci)}%`;
  const dot = html("b");
  dot.style.left = `${place(mean)}%`;
  const name = html("span", { class: "choice" }, names.actions[action]);
  const number = html("span", { class: "number" }, `${written(mean)} ± ${written(ci)}`);
  const node = html("li", {}, name, html("span", { class: "track" }, bar, interval, dot), number);
  setAttributes(node, { class: `${action === played ? "played" : ""} ${masked.has(action) ? "is-masked" : ""}` });
  return node;
}

function whatIfText({ played, regret, regret_ci95 }, ranked, names, continuations) {
  const over = `Mean return to the end over ${plural(continuations, "continuation")}.`;
  if (ranked[0].action === played) return `${over} Nothing tried was better than what was played.`;
  const lost = written(regret) + (regret_ci95 === undefined ? "" : ` ± ${written(regret_ci95)}`);
  return `${over} ${names.actions[ranked[0].action]} was best; what was played gives up ${lost}.`;
}
