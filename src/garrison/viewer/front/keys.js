// The keyboard. Keys that a focused control needs for itself stay with it.

import { LAYERS } from "./names.js";

export const KEYS = [
  ["Space", "play or pause"],
  ["← →", "one step back or forward; with Shift ten"],
  ["Home End", "first or last step"],
  ["1 2 3", "layer: true, believed, difference"],
  ["[ ]", "another episode, if there are several"],
  ["d", "first difference, if two are compared"],
  ["?", "this help"],
];

export function listenToKeys({ player, store, steps, choose, step, firstDifference, help }) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.isOpen() || isTyping(event)) return;
    const { position } = store.get();
    const far = event.shiftKey ? 10 : 1;
    const actions = {
      " ": () => player.toggle(),
      ArrowLeft: () => player.moveTo(position - far),
      ArrowRight: () => player.moveTo(position + far),
      Home: () => player.moveTo(0),
      End: () => player.moveTo(steps()),
      "[": () => step(-1),
      "]": () => step(1),
      "?": () => help.open(),
    };
    LAYERS.forEach((layer, k) => (actions[String(k + 1)] = () => choose(layer)));
    if (firstDifference !== null) actions.d = () => player.moveTo(firstDifference);
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

// A select takes arrows and letters, a button takes the space bar; the scrubber is ours.
function isTyping({ target, key }) {
  const tag = target.tagName;
  return tag === "SELECT" || (key === " " && (tag === "BUTTON" || tag === "SUMMARY"));
}
