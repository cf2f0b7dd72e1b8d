// The shape of a state, with its letter: a ring, a triangle, an octagon, a dashed ring.

import { setAttributes, setText, svg } from "./dom.js";

const RADIUS = 8;
const CORNERS = [...Array(8).keys()].map((k) => {
  const angle = ((k + 0.5) * Math.PI) / 4;
  return `${(RADIUS * Math.cos(angle)).toFixed(1)} ${(RADIUS * Math.sin(angle)).toFixed(1)}`;
});
const SHAPES = {
  ring: `M${-RADIUS} 0a${RADIUS} ${RADIUS} 0 1 1 ${2 * RADIUS} 0a${RADIUS} ${RADIUS} 0 1 1 ${-2 * RADIUS} 0Z`,
  triangle: "M0 -9L10 8L-10 8Z",
  diamond: "M0 -10L10 0L0 10L-10 0Z",
  octagon: `M${CORNERS.join("L")}Z`,
};
SHAPES.dashed = SHAPES.ring;

export function createBadge() {
  const shape = svg("path", { class: "shape" });
  const letter = svg("text", { class: "letter", "text-anchor": "middle", y: 4 });
  const node = svg("g", { class: "badge" }, shape, letter);
  return {
    node,
    show(kind, text) {
      setAttributes(node, { class: `badge ${kind}` });
      setAttributes(shape, { d: SHAPES[kind] });
      setAttributes(letter, { y: kind === "triangle" ? 6 : 4 });
      setText(letter, text);
    },
  };
}
