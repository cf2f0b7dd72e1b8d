// Where the bars and the line of the reward's chart stand, in pixels.

import { svg } from "./dom.js";
import { ticks, written } from "./numbers.js";

export const REWARD_FRAME = { height: 190, top: 8, bottom: 22, left: 38, right: 46 };

const { height: HEIGHT, top: TOP, bottom: BOTTOM, left: LEFT, right: RIGHT } = REWARD_FRAME;

// The ends of the axis of bars: how far a column reaches down and up.
export function columnEnds(bars) {
  return { low: Math.min(...bars.map(negativeSum), 0), high: Math.max(...bars.map(positiveSum), 0) };
}

function negativeSum(terms) {
  return terms.reduce((sum, value) => sum + Math.min(0, value), 0);
}

function positiveSum(terms) {
  return terms.reduce((sum, value) => sum + Math.max(0, value), 0);
}

// Scales of bars and of the total that share one line for zero, whatever is above it.
export function sharedScales(steps, totals) {
  const share = Math.max(part(steps), part(totals));
  return { bar: scaleTo(steps, share), total: scaleTo(totals, share) };
}

function part({ low, high }) {
  return high > low ? high / (high - low) : 0;
}

function scaleTo({ low, high }, share) {
  const zero = TOP + share * (HEIGHT - TOP - BOTTOM);
  const below = low < 0 ? (HEIGHT - BOTTOM - zero) / -low : Infinity;
  const above = high > 0 ? (zero - TOP) / high : Infinity;
  const pixels = Math.min(below, above);
  return (value) => (Number.isFinite(pixels) ? zero - value * pixels : zero);
}

// The numbers of the bars on the left, with a grid; those of the total on the right.
export function rewardAxes(steps, totals, y, width) {
  const lines = ticks(steps.low, steps.high, 4).map((value) =>
    svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y.bar(value), y2: y.bar(value) }),
  );
  return [...lines, ...tickTexts(steps, y.bar, LEFT - 5, "end"), ...tickTexts(totals, y.total, width - RIGHT + 5, "start")];
}

function tickTexts({ low, high }, y, x, anchor) {
  return ticks(low, high, 4).map((value) =>
    svg("text", { class: "tick", x, y: y(value) + 4, "text-anchor": anchor }, written(value)),
  );
}

export function stepLabels(steps, xOf, inner) {
  const whole = ticks(0, steps, Math.max(2, inner / 90)).filter((step) => step >= 1 && step === Math.round(step));
  return whole.map((step) =>
    svg("text", { class: "tick", x: xOf(step), y: HEIGHT - 6, "text-anchor": "middle" }, written(step)),
  );
}

// All bars of a group as one path: a thousand steps are five elements.
export function barsPath(bars, group, groups, columnWidth, y) {
  const before = groups.slice(0, groups.indexOf(group)).flatMap(({ terms }) => terms);
  const gap = columnWidth > 5 ? 1 : 0;
  let d = "";
  bars.forEach((column, k) => {
    for (const counts of [(value) => Math.min(0, value), (value) => Math.max(0, value)]) {
      let at = before.reduce((sum, term) => sum + counts(column[term]), 0);
      for (const term of group.terms) {
        const value = counts(column[term]);
        if (value) d += barAt(LEFT + k * columnWidth + gap / 2, columnWidth - gap, y(at), y(at + value));
        at += value;
      }
    }
  });
  return d;
}

// Thin bars are still seen, and thick ones leave a gap to the next.
function barAt(x, width, from, to) {
  const tall = Math.abs(to - from);
  const height = Math.max(0.8, tall > 4 ? tall - 0.7 : tall);
  return `M${x.toFixed(1)} ${Math.min(from, to).toFixed(1)}h${width.toFixed(1)}v${height.toFixed(1)}h${(-width).toFixed(1)}z`;
}

export function totalPath(totals, xOf, y) {
  return totals.map((total, p) => `${p ? "L" : "M"}${xOf(p).toFixed(1)} ${y(total).toFixed(1)}`).join("");
}
