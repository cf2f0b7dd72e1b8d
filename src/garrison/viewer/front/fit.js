// Text in a drawing has no line breaks: what fits is estimated from the number of letters.

export const LETTER = 6.1; // pixels of an average letter at the size of chips
const PADDING = 10;
const BETWEEN = 4;

export function chipWidth(text) {
  return text.length * LETTER + PADDING;
}

export function shorten(text, width, letter = LETTER) {
  const most = Math.max(1, Math.floor(width / letter));
  return text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1))}…`;
}

// Chips from the left, with whole names if they fit, else two letters each, else as many as fit and how many more there are.
export function fitChips(names, width) {
  for (const texts of [names, names.map((name) => name.slice(0, 2))]) {
    const placed = placeChips(texts);
    if (placed.length === 0 || placed.at(-1).right <= width) return placed;
  }
  for (let kept = names.length - 1; kept > 0; kept--) {
    const placed = placeChips([...names.slice(0, kept).map((name) => name.slice(0, 2)), `+${names.length - kept}`]);
    if (placed.at(-1).right <= width) return placed;
  }
  return placeChips([`${names.length}`]);
}

function placeChips(texts) {
  let x = 0;
  return texts.map((text) => {
    const chip = { text, x, width: chipWidth(text) };
    chip.right = x + chip.width;
    x = chip.right + BETWEEN;
    return chip;
  });
}

// Chips that end at `right`, the last of them there.
export function fitEnds(ends, right) {
  let x = right;
  return [...ends].reverse().map((end) => {
    const width = chipWidth(end.text);
    x -= width;
    const chip = { ...end, x, width };
    x -= BETWEEN;
    return chip;
  });
}
