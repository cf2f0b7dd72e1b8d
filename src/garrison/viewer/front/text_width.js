// How wide a text is on this machine, in pixels. Text in a drawing does not wrap, and fonts differ by a fifth.

const known = new Map();
let context = null;

export function textWidth(text, size, weight = 400) {
  const key = `${weight} ${size} ${text}`;
  if (!known.has(key)) {
    context ??= document.createElement("canvas").getContext("2d");
    context.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
    known.set(key, context.measureText(text).width);
  }
  return known.get(key);
}
