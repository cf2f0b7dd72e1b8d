// What is shown, in one place: position, layer, episode, playing. Whoever draws is told once per frame.

export function createStore(initial) {
  const view = { ...initial };
  const listeners = [];
  let shown = null;
  let isScheduled = false;

  function tell() {
    isScheduled = false;
    const before = shown;
    shown = { ...view };
    for (const listener of listeners) listener(shown, before);
  }

  return {
    get: () => view,
    set(changes) {
      Object.assign(view, changes);
      if (isScheduled) return;
      isScheduled = true;
      requestAnimationFrame(tell);
    },
    listen: (listener) => listeners.push(listener),
    tell,
  };
}
