// What each step cost, by its terms, and the running total. A click shows the step.

import { columnsFor, meanTerms } from "./binning.js";
import { html, setAttributes, setText, svg } from "./dom.js";
import { onWidth } from "./measure.js";
import { ticks, written } from "./numbers.js";

const HEIGHT = 190;
const TOP = 8;
const BOTTOM = 22;
const LEFT = 38;
const RIGHT = 46;

export function createReward(index, jump) {
  const drawing = svg("svg", { role: "img", class: "chart reward", height: HEIGHT });
  const cursor = svg("rect", { class: "cursor", y: TOP, height: HEIGHT - TOP - BOTTOM });
  const readout = html("p", { class: "small readout" });
  const binned = html("span");
  const room = html("div", { class: "chart-room" }, drawing);
  const groups = termGroups(index.episode);
  const node = html(
    "section",
    { class: "panel reward-panel", "aria-label": "Reward" },
    html("h2", {}, "Reward"),
    readout,
    room,
    html("p", { class: "legend" }, ...groups.map(({ name, key }) => html("span", { class: `key term-${key}` }, name)), html("span", { class: "key total" }, "total so far (right)"), binned),
  );
  let xOf = null;
  let last = 0;

  function draw(width) {
    const inner = width - LEFT - RIGHT;
    const columns = columnsFor(index.steps, inner);
    const bars = meanTerms(index.episode.turn.terms, columns);
    const steps = { low: Math.min(...bars.map(negativeSum), 0), high: Math.max(...bars.map(positiveSum), 0) };
    const totals = { low: Math.min(...index.episode.state.total, 0), high: Math.max(...index.episode.state.total, 0) };
    const share = Math.max(part(steps), part(totals)); // one line for zero, whatever is above it
    const y = { bar: scaleTo(steps, share), total: scaleTo(totals, share) };
    xOf = (step) => LEFT + ((step - 0.5) * inner) / index.steps;
    setAttributes(cursor, { width: Math.max(2, inner / index.steps).toFixed(2) });
    setAttributes(drawing, { width, viewBox: `0 0 ${width} ${HEIGHT}` });
    drawing.replaceChildren(
      ...axis(steps, y.bar, LEFT - 5, "end", width),
      ...axis(totals, y.total, width - RIGHT + 5, "start", width),
      ...stepLabels(index.steps, xOf, inner),
      ...groups.map(({ key, terms }) => svg("path", { class: `term-${key}`, d: barsPath(bars, terms, groups, columns.stepsEach, inner / index.steps, y.bar) })),
      svg("path", { class: "total-line", d: totalPath(index.episode.state.total, (p) => LEFT + (p * inner) / index.steps, y.total) }),
      cursor,
    );
    setText(binned, columns.stepsEach > 1 ? `each column is the mean of ${columns.stepsEach} steps` : "");
    show(last);
  }

  function show(position) {
    last = position;
    if (!xOf) return;
    setAttributes(cursor, { x: position ? (xOf(position) - Number(cursor.getAttribute("width")) / 2).toFixed(1) : LEFT - 1 });
    const text = rewardText(index.episode, position);
    setText(readout, text);
    setAttributes(drawing, { "aria-label": `Reward by step; ${text}` });
  }

  function jumpTo(event) {
    const width = drawing.clientWidth - LEFT - RIGHT;
    const x = event.clientX - drawing.getBoundingClientRect().left - LEFT;
    jump(Math.min(index.steps, Math.max(1, Math.ceil((x / width) * index.steps))));
  }

  drawing.addEventListener("pointerdown", jumpTo);
  drawing.addEventListener("pointermove", (event) => event.buttons === 1 && jumpTo(event));
  onWidth(room, draw);
  return { node, show };
}

// Hosts by subnet, the service, Blue's action: colours for fifteen terms would tell nobody anything.
export function termGroups({ names, network }) {
  const groups = names.subnets.map((name, subnet) => ({
    name: `${name} hosts`,
    key: ["enterprise", "operational", "user"].find((key) => key === name.toLowerCase()) ?? "quiet",
    terms: names.hosts.map((_, h) => h).filter((h) => network.subnet[h] === subnet),
  }));
  const hosts = names.hosts.length;
  groups.push({ name: names.terms[hosts], key: "service", terms: [hosts] });
  groups.push({ name: "Blue's action", key: "action", terms: [hosts + 1] });
  return groups;
}

export function rewardText({ names, turn }, position) {
  if (position === 0) return "Nothing has been paid yet.";
  const parts = turn.terms[position - 1].flatMap((value, term) => (value ? [`${names.terms[term]} ${written(value)}`] : []));
  if (!parts.length) return `Step ${position} cost nothing.`;
  return `Step ${position}: ${written(turn.reward[position - 1])} = ${parts.join(", ")}.`;
}

function negativeSum(terms) {
  return terms.reduce((sum, value) => sum + Math.min(0, value), 0);
}

function positiveSum(terms) {
  return terms.reduce((sum, value) => sum + Math.max(0, value), 0);
}

function part({ low, high }) {
  return high > low ? high / (high - low) : 0;
}

function scaleTo({ low, high }, share) {
  const zero = TOP + share * (HEIGHT - TOP - BOTTOM);
  const pixels = Math.min(low < 0 ? (HEIGHT - BOTTOM - zero) / -low : Infinity, high > 0 ? (zero - TOP) / high : Infinity);
  return (value) => (Number.isFinite(pixels) ? zero - value * pixels : zero);
}

function axis({ low, high }, y, x, anchor, width) {
  return ticks(low, high, 4).flatMap((value) => [
    anchor === "end" ? svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) }) : svg("g"),
    svg("text", { class: "tick", x, y: y(value) + 4, "text-anchor": anchor }, written(value)),
  ]);
}

function stepLabels(steps, xOf, inner) {
  return ticks(0, steps, Math.max(2, inner / 90)).filter((step) => step >= 1 && step === Math.round(step)).map((step) =>
    svg("text", { class: "tick", x: xOf(step), y: HEIGHT - 6, "text-anchor": "middle" }, written(step)),
  );
}

// All bars of a group as one path: a thousand steps are five elements.
function barsPath(bars, terms, groups, stepsEach, stepWidth, y) {
  const before = groups.slice(0, groups.findIndex((group) => group.terms === terms)).flatMap((group) => group.terms);
  const columnWidth = stepsEach * stepWidth;
  const gap = columnWidth > 5 ? 1 : 0;
  let d = "";
  bars.forEach((column, k) => {
    for (const isNegative of [true, false]) {
      const counts = (value) => (isNegative ? Math.min(0, value) : Math.max(0, value));
      let at = before.reduce((sum, term) => sum + counts(column[term]), 0);
      for (const term of terms) {
        const value = counts(column[term]);
        if (!value) continue;
        const ends = [y(at), y(at + value)].sort((a, b) => a - b);
        const height = Math.max(0.8, ends[1] - ends[0] - (ends[1] - ends[0] > 4 ? 0.7 : 0));
        const x = LEFT + k * columnWidth + gap / 2;
        d += `M${x.toFixed(1)} ${ends[0].toFixed(1)}h${(columnWidth - gap).toFixed(1)}v${height.toFixed(1)}h${(gap - columnWidth).toFixed(1)}z`;
        at += value;
      }
    }
  });
  return d;
}

function totalPath(totals, xOf, y) {
  return totals.map((total, p) => `${p ? "L" : "M"}${xOf(p).toFixed(1)} ${y(total).toFixed(1)}`).join("");
}
