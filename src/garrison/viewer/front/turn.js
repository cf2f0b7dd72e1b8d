// The turn as sentences: what Blue did, what Red did, what Blue saw, and what it cost.

import { html, setText } from "./dom.js";
import { written } from "./numbers.js";

export function createTurn(index) {
  const title = html("h2");
  const cost = html("span", { class: "cost" });
  const lines = { blue: html("p", { class: "says blue" }), red: html("p", { class: "says red" }), seen: html("p", { class: "says seen" }) };
  const words = {};
  for (const [who, label] of [["blue", "Blue"], ["red", "Red"], ["seen", "Seen"]]) {
    words[who] = html("span");
    lines[who].append(html("b", {}, label), words[who]);
  }
  const spoken = html("div", { class: "spoken", "aria-live": "polite" }, lines.blue, lines.red, lines.seen);
  const node = html("section", { class: "panel turn", "aria-label": "This turn" }, html("header", {}, title, cost), spoken);
  const { turn, state, names } = index.episode;

  return {
    node,
    show(position, { isPlaying }) {
      // A reader of the screen cannot follow a film.
      spoken.setAttribute("aria-live", isPlaying ? "off" : "polite");
      setText(title, position === 0 ? "Before the first turn" : `Turn ${position} of ${index.steps}`);
      if (position === 0) {
        setText(cost, "");
        setText(words.blue, "has not acted yet.");
        setText(words.red, `holds its foothold ${names.hosts[index.foothold]}.`);
        setText(words.seen, "nothing yet.");
        return;
      }
      const t = position - 1;
      setText(cost, `${written(turn.reward[t])} this turn, ${written(state.total[position])} in all`);
      setText(words.blue, turn.blue_text[t]);
      setText(words.red, turn.red_text[t]);
      setText(words.seen, turn.seen_text[t]);
    },
  };
}
