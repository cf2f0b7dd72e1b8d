// The way of an arrow from one box on the map to another: from side to side, around what stands in one column.

const BULGE = 26;

export function route(from, to) {
  if (from === to) return loop(from);
  const middle = (box) => box.x + box.width / 2;
  const overlap = Math.min(from.x + from.width, to.x + to.width) - Math.max(from.x, to.x);
  if (overlap > 0) return bow(from, to);
  const isRight = middle(to) > middle(from);
  const start = { x: isRight ? from.x + from.width : from.x, y: from.y + from.height / 2 };
  const end = { x: isRight ? to.x : to.x + to.width, y: to.y + to.height / 2 };
  const pull = (end.x - start.x) / 2;
  return curve(start, { x: start.x + pull, y: start.y }, { x: end.x - pull, y: end.y }, end);
}

// Between boxes of one column the arrow swings out to the right.
function bow(from, to) {
  const start = { x: from.x + from.width, y: from.y + from.height / 2 };
  const end = { x: to.x + to.width, y: to.y + to.height / 2 };
  const out = Math.max(start.x, end.x) + BULGE;
  return curve(start, { x: out, y: start.y }, { x: out, y: end.y }, end);
}

function loop(box) {
  const x = box.x + box.width;
  const y = box.y + box.height / 2;
  return curve({ x, y: y - 14 }, { x: x + BULGE, y: y - 20 }, { x: x + BULGE, y: y + 20 }, { x, y: y + 14 });
}

function curve(...points) {
  const [start, ...rest] = points.map(({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`);
  return `M${start}C${rest.join(" ")}`;
}
