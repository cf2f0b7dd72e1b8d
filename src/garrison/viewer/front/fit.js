// What fits into a row of a card: chips from both ends, whole names or short ones. `widthOf` measures a text.

const PADDING = 10;
const BETWEEN = 4;

export function shorten(text, room, widthOf) {
  if (widthOf(text) <= room) return text;
  let kept = text.length - 1;
  while (kept > 1 && widthOf(`${text.slice(0, kept)}…`) > room) kept--;
  return `${text.slice(0, kept)}…`;
}

export function chipWidth(text, widthOf) {
  return widthOf(text) + PADDING;
}

// Chips from the left, with whole names if they fit, else two letters each, else as many as fit and how many more there are.
export function fitChips(names, room, widthOf) {
  for (const texts of [names, names.map(twoLetters)]) {
    const placed = placeChips(texts, widthOf);
    if (placed.length === 0 || placed.at(-1).right <= room) return placed;
  }
  for (let kept = names.length - 1; kept > 0; kept--) {
    const placed = placeChips([...names.slice(0, kept).map(twoLetters), `+${names.length - kept}`], widthOf);
    if (placed.at(-1).right <= room) return placed;
  }
  return placeChips([`${names.length}`], widthOf);
}

function twoLetters(name) {
  return name.slice(0, 2);
}

function placeChips(texts, widthOf) {
  let x = 0;
  return texts.map((text) => {
    const width = chipWidth(text, widthOf);
    const chip = { text, x, width, right: x + width };
    x = chip.right + BETWEEN;
    return chip;
  });
}

// Chips that end at `right`, the last of them there.
export function fitEnds(ends, right, widthOf) {
  let x = right;
  return [...ends].reverse().map((end) => {
    const width = chipWidth(end.text, widthOf);
    x -= width;
    const chip = { ...end, x, width };
    x -= BETWEEN;
    return chip;
  });
}
