// The turn as sentences: what Blue did, what Red did, what Blue saw, and what it cost.

import { html, setShown, setText } from "./dom.js";
import { written } from "./numbers.js";

export function createTurn(index) {
  const title = html("h2");
  const cost = html("span", { class: "cost" });
  const blue = html("span");
  const idle = html("span", { class: "tag" }, "no effect");
  const red = html("p", { class: "says red" });
  const seen = html("p", { class: "says seen" });
  const first = html("p", { class: "says blue" }, blue, " ", idle);
  const spoken = html("div", { class: "spoken", "aria-live": "polite" }, first, red, seen);
  const head = html("header", {}, title, cost);
  const node = html("section", { class: "panel turn", "aria-label": "This turn" }, head, spoken);
  const { turn, state, names } = index.episode;

  return {
    node,
    show(position, { isPlaying }) {
      // A reader of the screen cannot follow a film.
      spoken.setAttribute("aria-live", isPlaying ? "off" : "polite");
      const t = position - 1;
      setText(title, t < 0 ? "Before the first turn" : `Turn ${position} of ${index.steps}`);
      setText(cost, t < 0 ? "" : `${written(turn.reward[t])} this turn, ${written(state.total[position])} in all`);
      setText(blue, t < 0 ? "Blue has not acted yet." : turn.blue_text[t]);
      setShown(idle, t >= 0 && turn.effect[t] === 0);
      setText(red, t < 0 ? `Red holds its foothold ${names.hosts[index.foothold]}.` : turn.red_text[t]);
      setText(seen, t < 0 ? "Blue has seen nothing yet." : turn.seen_text[t]);
    },
  };
}
