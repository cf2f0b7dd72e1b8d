// The bar at the bottom: timeline, scrubber, and the buttons around it.

import { html, setAttributes, setText } from "./dom.js";
import { SPEEDS } from "./player.js";
import { createTimeline } from "./timeline.js";

export function createDock(indexes, player, { firstDifference, view }) {
  const steps = Math.max(...indexes.map((index) => index.steps));
  const jump = (position) => player.moveTo(position);
  const timeline = createTimeline(indexes, { firstDifference, jump });
  const range = html("input", { type: "range", min: 0, max: steps, step: 1, class: "scrubber", "aria-label": "Step" });
  const play = iconButton("Play", "play");
  const at = html("output", { class: "at" });
  const moves = [
    ["First step", "first", () => 0],
    ["Step back", "back", () => view().position - 1],
    null,
    ["Step forward", "forward", () => view().position + 1],
    ["Last step", "last", () => steps],
  ];
  const buttons = moves.map((move) => {
    if (move === null) return play;
    const button = iconButton(move[0], move[1]);
    button.addEventListener("click", () => jump(move[2]()));
    return button;
  });
  const speeds = SPEEDS.map((each) => html("option", { value: each }, `${each}/s`));
  const speed = html("select", { "aria-label": "Speed", title: "Steps a second" }, ...speeds);
  speed.value = String(view().speed);
  speed.addEventListener("change", () => player.setSpeed(Number(speed.value)));
  play.addEventListener("click", () => player.toggle());
  range.addEventListener("input", () => jump(Number(range.value)));
  const controls = html("div", { class: "controls" }, ...buttons, speed, at);
  if (firstDifference !== null) {
    const name = `First difference: step ${firstDifference}`;
    const button = html("button", { type: "button", class: "difference-button" }, name);
    button.addEventListener("click", () => jump(firstDifference));
    controls.append(button);
  }
  const node = html(
    "footer",
    { class: "dock", "aria-label": "Time" },
    html("div", { class: "dock-labels" }, timeline.labels),
    html("div", { class: "dock-time" }, timeline.node, range),
    controls,
  );
  return {
    node,
    show({ position, isPlaying }) {
      if (Number(range.value) !== position) range.value = String(position);
      setAttributes(range, { "aria-valuetext": `step ${position} of ${steps}` });
      setText(at, `${position} / ${steps}`);
      setAttributes(play, { "aria-label": isPlaying ? "Pause" : "Play", class: `icon ${isPlaying ? "pause" : "play"}` });
      timeline.show(position);
    },
  };
}

function iconButton(name, kind) {
  return html("button", { type: "button", class: `icon ${kind}`, "aria-label": name, title: name });
}
