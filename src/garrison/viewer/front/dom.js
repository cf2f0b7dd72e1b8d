// Elements from names, attributes and children. Text is always a text node, never markup: whatever a name holds, it shows.

const SVG = "http://www.w3.org/2000/svg";

export function html(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

// Touch the document only where something changes: a step of the scrubber comes every few milliseconds.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function setAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    const text = String(value);
    if (node.getAttribute(name) !== text) node.setAttribute(name, text);
  }
}

export function setShown(node, isShown) {
  if (node.hidden === isShown) node.hidden = !isShown;
}

// SVG elements have no `hidden`.
export function setDrawn(node, isDrawn) {
  setAttributes(node, { visibility: isDrawn ? "visible" : "hidden" });
}
