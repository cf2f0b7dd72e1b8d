// Draw again when the room changes, and only then; in the next frame, so that drawing cannot answer itself.

export function onWidth(node, draw) {
  let last = 0;
  new ResizeObserver(([entry]) => {
    const width = Math.floor(entry.contentRect.width);
    if (width === last || width === 0) return;
    last = width;
    requestAnimationFrame(() => draw(width));
  }).observe(node);
}
