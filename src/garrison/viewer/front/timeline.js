// What happened when, above the scrubber: a lane for each kind of event, with a shape of its own.

import { html, setAttributes, svg } from "./dom.js";
import { onWidth } from "./measure.js";

const THUMB = 16; // pixels of the scrubber's thumb: the lanes begin and end in its middle
const LANE = 12;
const TIGHT = 9; // of two episodes

// Paths of a mark around its middle.
const CROSS = "m-4 -3l3 3l-3 3h2l2 -2l2 2h2l-3 -3l3 -3h-2l-2 2l-2 -2z";
const LANES = [
  { key: "won", name: "exploit won", side: "red", shape: "m0 -4.5l4.5 8h-9z" },
  { key: "escalated", name: "escalated", side: "red", shape: "m-4 0a4 4 0 1 1 8 0a4 4 0 1 1 -8 0z" },
  { key: "caught", name: "caught by decoy", side: "blue", shape: "m0 -4.5l4.5 4.5l-4.5 4.5l-4.5 -4.5z" },
  { key: "restored", name: "restored", side: "blue", shape: "m-3.5 -3.5h7v7h-7z" },
  { key: "down", name: "service down", side: "red", shape: null },
  { key: "broken", name: "order broken", side: "red", shape: CROSS, isOptional: true },
  { key: "tried", name: "regret", side: "other", shape: "m-4 4v-2h2v-2h2v-4h2v8z", isOptional: true },
];

export function createTimeline(indexes, { firstDifference, jump }) {
  const lanes = LANES.filter(({ key, isOptional }) => !isOptional || indexes.some(({ marks }) => marks[key].length));
  const lane = indexes.length > 1 ? TIGHT : LANE;
  const tops = laneTops(indexes.length, lanes.length, lane);
  const height = tops.height;
  const drawing = svg("svg", { class: "timeline", height, role: "img", "aria-label": timelineText(indexes, lanes) });
  const cursor = svg("line", { class: "cursor-line", y1: 0, y2: height });
  const room = html("div", { class: "timeline-room" }, drawing);
  const labels = laneLabels(indexes.length, lanes, tops, lane);
  const steps = Math.max(...indexes.map((index) => index.steps));
  let width = 0;
  let last = 0;

  const xOf = (p) => THUMB / 2 + (p * (width - THUMB)) / Math.max(1, steps);

  function draw(newWidth) {
    width = newWidth;
    setAttributes(drawing, { width, viewBox: `0 0 ${width} ${height}` });
    drawing.replaceChildren(
      ...indexes.flatMap((index, k) =>
        lanes.map(({ key, side, shape }, row) => {
          const shapeAt = key === "tried" ? regretBars(index.whatIf, lane) : () => shape;
          const d = marksPath(shapeAt, index.marks[key], xOf, tops.of(k, row) + lane / 2);
          return svg("path", { class: `mark ${side} ${key}`, d });
        }),
      ),
      cursor,
    );
    if (firstDifference !== null) {
      const x = xOf(firstDifference).toFixed(1);
      drawing.append(svg("path", { class: "first-difference", d: `M${x} 0V${height}` }));
    }
    show(last);
  }

  function show(position) {
    last = position;
    const x = xOf(position).toFixed(1);
    setAttributes(cursor, { x1: x, x2: x });
  }

  function jumpTo(event) {
    const x = event.clientX - drawing.getBoundingClientRect().left - THUMB / 2;
    jump(Math.min(steps, Math.max(0, Math.round((x / (width - THUMB)) * steps))));
  }

  drawing.addEventListener("pointerdown", jumpTo);
  drawing.addEventListener("pointermove", (event) => event.buttons === 1 && jumpTo(event));
  onWidth(room, draw);
  return { node: room, labels, show };
}

// Marks that would fall on one pixel are drawn once.
export function marksPath(shapeAt, positions, xOf, y) {
  let d = "";
  let taken = -1;
  for (const p of positions) {
    const x = Math.round(xOf(p) * 2) / 2;
    if (x === taken) continue;
    taken = x;
    const shape = shapeAt(p);
    d += shape === null ? barOf(xOf, p, y) : `M${x} ${y}${shape}`;
  }
  return d;
}

// Where something was tried: a bar as high as what was played gave up, a dot where that was nothing.
export function regretBars(whatIf, lane) {
  const most = Math.max(...[...whatIf.values()].map(({ regret }) => regret), 1e-9);
  return (p) => {
    const height = (1.5 + ((lane - 3) * Math.max(0, whatIf.get(p).regret)) / most).toFixed(1);
    return `m-1.5 ${lane / 2 - 1}h3v-${height}h-3z`;
  };
}

// The service is down for whole steps: the bars of neighbours touch.
function barOf(xOf, p, y) {
  const left = xOf(p - 0.5);
  return `M${left.toFixed(1)} ${y - 3}h${Math.max(1, xOf(p + 0.5) - left).toFixed(1)}v6H${left.toFixed(1)}z`;
}

function laneTops(episodes, lanes, lane) {
  const between = 6;
  const each = lanes * lane + between;
  return { of: (k, row) => k * each + row * lane, height: episodes * each - between };
}

function laneLabels(episodes, lanes, tops, lane) {
  const drawing = svg("svg", { class: "lane-labels", height: tops.height, width: 116, "aria-hidden": "true" });
  for (let k = 0; k < episodes; k++) {
    lanes.forEach(({ name, side, shape, key }, row) => {
      const y = tops.of(k, row) + lane / 2;
      drawing.append(
        svg("path", { class: `mark ${side} ${key}`, d: `M109 ${y}${shape ?? "m-4 -3h8v6h-8z"}` }),
        svg("text", { x: 100, y: y + 3.2, "text-anchor": "end", class: lane < LANE ? "tight" : "" }, name),
      );
    });
  }
  return drawing;
}

function timelineText(indexes, lanes) {
  const counts = indexes.map(({ marks }) => lanes.map(({ key, name }) => `${marks[key].length} ${name}`).join(", "));
  return `Events: ${counts.join("; ")}`;
}
