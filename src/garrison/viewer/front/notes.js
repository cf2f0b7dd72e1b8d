// What an agent of words said before its action.

import { html, setText } from "./dom.js";

export function createNotes(index) {
  const { notes } = index.episode;
  const said = html("p", { class: "notes", tabindex: "0" });
  const node = html("section", { class: "panel", "aria-label": "What the agent said" }, html("h2", {}, "What the agent said"), said);
  return {
    node,
    show(position) {
      setText(said, position < 1 ? "It has not chosen yet." : notes[position - 1] || "Nothing.");
      said.scrollTop = 0;
    },
  };
}
