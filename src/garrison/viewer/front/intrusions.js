// When Red held which host: a row for each host, a bar for each intrusion, which a click shows.

import { html, setAttributes, svg } from "./dom.js";
import { shorten } from "./fit.js";
import { onWidth } from "./measure.js";
import { Access } from "./names.js";
import { plural, ticks, written } from "./numbers.js";
import { textWidth } from "./text_width.js";

const ROW = 22;
const LEFT_ROOM = 92;
const RIGHT_ROOM = 22;
const FOOT = 20;

export function createIntrusions(index, jump) {
  const { names, metrics } = index.episode;
  const all = metrics.intrusions ?? [];
  const hosts = [...new Set(all.map(({ host }) => host))].sort((a, b) => a - b);
  const height = hosts.length * ROW + FOOT;
  const drawing = svg("svg", { class: "chart gantt", role: "img", height, "aria-label": "Intrusions by host and step" });
  const cursor = svg("line", { class: "cursor-line", y1: 0, y2: height - FOOT });
  const room = html("div", { class: "chart-room" }, drawing);
  const node = html("section", { class: "panel intrusions", "aria-label": "Intrusions" }, html("h2", {}, "Intrusions"));
  if (!all.length) node.append(html("p", { class: "small" }, "Red took no host beside its foothold."));
  else node.append(room, intrusionLegend(), intrusionList(all, names, jump));
  let inner = 0;
  let last = 0;

  function draw(width) {
    inner = width - LEFT_ROOM - RIGHT_ROOM;
    const xOf = (p) => LEFT_ROOM + (p * inner) / index.steps;
    setAttributes(drawing, { width, viewBox: `0 0 ${width} ${height}` });
    drawing.replaceChildren(
      ...hosts.flatMap((host, row) => hostRow(names.hosts[host], row, inner)),
      ...ticks(0, index.steps, Math.max(2, inner / 90)).map((p) =>
        svg("text", { class: "tick", x: xOf(p), y: height - 4, "text-anchor": "middle" }, written(p)),
      ),
      ...all.map((one) => intrusionBar(one, hosts.indexOf(one.host), xOf, index.steps, names, jump)),
      cursor,
    );
    show(last);
  }

  function show(position) {
    last = position;
    const x = (LEFT_ROOM + (position * inner) / index.steps).toFixed(1);
    setAttributes(cursor, { x1: x, x2: x });
  }

  if (all.length) onWidth(room, draw);
  return { node, show };
}

function hostRow(name, row, inner) {
  const shown = shorten(name, LEFT_ROOM - 12, (text) => textWidth(text, 11));
  const middle = row * ROW + ROW / 2;
  return [
    svg("text", { class: "tick", x: LEFT_ROOM - 8, y: middle + 4, "text-anchor": "end" }, shown),
    svg("line", { class: "grid", x1: LEFT_ROOM, x2: LEFT_ROOM + inner, y1: middle, y2: middle }),
  ];
}

function intrusionBar(one, row, xOf, steps, names, jump) {
  const x = xOf(one.from);
  const width = Math.max(3, xOf(one.to ?? steps) - x);
  const isPrivileged = one.level === Access.PRIVILEGED;
  const bar = svg(
    "g",
    { class: `intrusion ${isPrivileged ? "tone-privileged" : "tone-user"}` },
    svg("title", {}, intrusionText(one, names)),
    svg("rect", { x, y: row * ROW + (isPrivileged ? 3 : 6), width, height: isPrivileged ? ROW - 6 : ROW - 12, rx: 2 }),
  );
  if (width > 14) {
    const letter = isPrivileged ? "P" : "U";
    bar.append(svg("text", { x: x + width / 2, y: row * ROW + 15, "text-anchor": "middle" }, letter));
  }
  bar.addEventListener("click", () => jump(one.from));
  return bar;
}

export function intrusionText({ host, from, to, level }, names) {
  const until = to === null ? `from step ${from} to the end` : `steps ${from} to ${to}`;
  return `${names.hosts[host]}: ${until}, ${names.accesses[level].toLowerCase()}`;
}

function intrusionLegend() {
  return html(
    "p",
    { class: "legend" },
    html("span", { class: "key tone-privileged" }, "P privileged (tall)"),
    html("span", { class: "key tone-user" }, "U user (low)"),
  );
}

// The same for the keyboard and for readers of the screen; filled when it is opened.
function intrusionList(all, names, jump) {
  const list = html("ul", { class: "intrusion-list" });
  const details = html("details", {}, html("summary", {}, `List of ${plural(all.length, "intrusion")}`), list);
  details.addEventListener("toggle", () => {
    if (list.childElementCount) return;
    for (const one of all) {
      const button = html("button", { type: "button", class: "plain" }, intrusionText(one, names));
      button.addEventListener("click", () => jump(one.from));
      list.append(html("li", {}, button));
    }
  });
  return details;
}
