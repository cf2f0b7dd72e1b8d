// How numbers are written: a true minus sign, as few digits as the value needs.

const MINUS = "\u2212";

export function written(value, digits = 2) {
  if (typeof value !== "number" || !Number.isFinite(value)) return "\u2013";
  const rounded = Number(value.toFixed(digits));
  const text = Math.abs(rounded).toLocaleString("en", { maximumFractionDigits: digits });
  return rounded < 0 ? MINUS + text : text;
}

export function percent(share, digits = 0) {
  if (typeof share !== "number" || !Number.isFinite(share)) return "\u2013";
  return `${(100 * share).toFixed(digits)}\u00a0%`;
}

export function plural(count, one, many = `${one}s`) {
  return `${written(count, 0)} ${count === 1 ? one : many}`;
}

// The round numbers from `low` to `high` that an axis shows.
export function ticks(low, high, wanted = 4) {
  if (!(high > low)) return [low];
  const rough = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step + 0);
  return found;
}
