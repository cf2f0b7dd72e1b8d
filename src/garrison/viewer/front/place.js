// Where the panels of subnets and the cards of hosts stand on a map of a given width, in pixels.

const PAD = 9;
const HEAD = 30;
const CARD = 74;
const GAP = 18; // flags hang over a card's edge
const SIDE_BY_SIDE = 540; // a narrower map has its panels below one another
const TWO_CARDS = 300; // a narrower panel has one card in a row

export function placeMap(width, groups) {
  return width >= SIDE_BY_SIDE ? besideOneAnother(width, groups) : belowOneAnother(width, groups);
}

function besideOneAnother(width, groups) {
  const gutter = width < 760 ? 20 : 36; // room for links and arrows
  const most = Math.max(...groups.map((group) => group.hosts.length));
  const height = HEAD + PAD + most * CARD + (most - 1) * GAP + PAD;
  const panelWidth = (width - gutter * (groups.length - 1)) / groups.length;
  const cards = new Map();
  const panels = groups.map(({ subnet, hosts }, k) => {
    const panel = { subnet, x: k * (panelWidth + gutter), y: 0, width: panelWidth, height };
    const room = height - HEAD - 2 * PAD - CARD;
    const apart = hosts.length > 1 ? room / (hosts.length - 1) : 0;
    hosts.forEach((h, row) => {
      const y = HEAD + PAD + row * apart;
      cards.set(h, { x: panel.x + PAD, y, width: panelWidth - 2 * PAD, height: CARD });
    });
    return panel;
  });
  return { width, height, panels, cards, isWide: true };
}

function belowOneAnother(width, groups) {
  const perRow = width >= TWO_CARDS ? 2 : 1;
  const cardWidth = (width - 2 * PAD - (perRow - 1) * PAD) / perRow;
  const cards = new Map();
  let top = 0;
  const panels = groups.map(({ subnet, hosts }) => {
    const rows = Math.ceil(hosts.length / perRow);
    const panel = { subnet, x: 0, y: top, width, height: HEAD + PAD + rows * CARD + (rows - 1) * GAP + PAD };
    hosts.forEach((h, k) => {
      const x = PAD + (k % perRow) * (cardWidth + PAD);
      const y = top + HEAD + PAD + Math.floor(k / perRow) * (CARD + GAP);
      cards.set(h, { x, y, width: cardWidth, height: CARD });
    });
    top += panel.height + GAP;
    return panel;
  });
  return { width, height: top - GAP, panels, cards, isWide: false };
}

// The subnets in the order in which Red meets them: from its foothold along the links, then any others.
export function groupHosts({ names, network }) {
  const order = [names.subnets[network.subnet[network.foothold]]];
  for (let k = 0; k < order.length; k++) {
    for (const link of network.links) {
      const other = link[0] === order[k] ? link[1] : link[1] === order[k] ? link[0] : null;
      if (other !== null && names.subnets.includes(other) && !order.includes(other)) order.push(other);
    }
  }
  order.push(...names.subnets.filter((name) => !order.includes(name)));
  return order.map((name) => {
    const subnet = names.subnets.indexOf(name);
    return { subnet, hosts: names.hosts.map((_, h) => h).filter((h) => network.subnet[h] === subnet) };
  });
}
