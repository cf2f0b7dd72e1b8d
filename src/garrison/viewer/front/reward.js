// What each step cost, by its terms, and the running total. A click shows the step.

import { columnsFor, meanTerms } from "./binning.js";
import { html, setAttributes, setText, svg } from "./dom.js";
import { onWidth } from "./measure.js";
import { written } from "./numbers.js";
import { REWARD_FRAME, barsPath, columnEnds, rewardAxes, sharedScales, stepLabels, totalPath } from "./reward_bars.js";

const { height: HEIGHT, top: TOP, bottom: BOTTOM, left: LEFT, right: RIGHT } = REWARD_FRAME;

export function createReward(index, jump) {
  const { turn, state } = index.episode;
  const drawing = svg("svg", { role: "img", class: "chart reward", height: HEIGHT });
  const cursor = svg("rect", { class: "cursor", y: TOP, height: HEIGHT - TOP - BOTTOM });
  const readout = html("p", { class: "small readout" });
  const binned = html("span");
  const room = html("div", { class: "chart-room" }, drawing);
  const groups = termGroups(index.episode);
  const legend = rewardLegend(groups, binned);
  const title = html("h2", {}, "Reward");
  const node = html("section", { class: "panel reward-panel", "aria-label": "Reward" }, title, readout, room, legend);
  let stepWidth = 0;
  let last = 0;

  function draw(width) {
    stepWidth = (width - LEFT - RIGHT) / index.steps;
    const columns = columnsFor(index.steps, width - LEFT - RIGHT);
    const bars = meanTerms(turn.terms, columns);
    const steps = columnEnds(bars);
    const totals = { low: Math.min(...state.total, 0), high: Math.max(...state.total, 0) };
    const y = sharedScales(steps, totals);
    const columnWidth = columns.stepsEach * stepWidth;
    setAttributes(cursor, { width: Math.max(2, stepWidth).toFixed(2) });
    setAttributes(drawing, { width, viewBox: `0 0 ${width} ${HEIGHT}` });
    drawing.replaceChildren(
      ...rewardAxes(steps, totals, y, width),
      ...stepLabels(index.steps, middleOf, width - LEFT - RIGHT),
      ...groups.map((group) =>
        svg("path", { class: `term-${group.key}`, d: barsPath(bars, group, groups, columnWidth, y.bar) }),
      ),
      svg("path", { class: "total-line", d: totalPath(state.total, (p) => LEFT + p * stepWidth, y.total) }),
      cursor,
    );
    setText(binned, columns.stepsEach > 1 ? `each column is the mean of ${columns.stepsEach} steps` : "");
    show(last);
  }

  function middleOf(step) {
    return LEFT + (step - 0.5) * stepWidth;
  }

  function show(position) {
    last = position;
    const x = position ? middleOf(position) - Math.max(2, stepWidth) / 2 : LEFT - 1;
    setAttributes(cursor, { x: x.toFixed(1) });
    const text = rewardText(index.episode, position);
    setText(readout, text);
    setAttributes(drawing, { "aria-label": `Reward by step; ${text}` });
  }

  function jumpTo(event) {
    const x = event.clientX - drawing.getBoundingClientRect().left - LEFT;
    jump(Math.min(index.steps, Math.max(1, Math.ceil(x / stepWidth))));
  }

  drawing.addEventListener("pointerdown", jumpTo);
  drawing.addEventListener("pointermove", (event) => event.buttons === 1 && jumpTo(event));
  onWidth(room, draw);
  return { node, show };
}

function rewardLegend(groups, binned) {
  const keys = groups.map(({ name, key }) => html("span", { class: `key term-${key}` }, name));
  return html("p", { class: "legend" }, ...keys, html("span", { class: "key total" }, "total so far (right)"), binned);
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
  const terms = turn.terms[position - 1];
  const parts = terms.flatMap((value, term) => (value ? [`${names.terms[term]} ${written(value)}`] : []));
  if (!parts.length) return `Step ${position} cost nothing.`;
  return `Step ${position}: ${written(turn.reward[position - 1])} = ${parts.join(", ")}.`;
}
