// Playing: the position moves by itself, so many steps a second, until the end.

export const SPEEDS = [1, 2, 5, 10, 30];

// A frame's time may lie before the click that it follows.
export function positionAt(from, milliseconds, speed, steps) {
  return Math.min(steps, from + Math.floor((Math.max(0, milliseconds) * speed) / 1000));
}

export function createPlayer(store, steps) {
  let started = 0;
  let from = 0;

  function frame(now) {
    const { isPlaying, speed } = store.get();
    if (!isPlaying) return;
    const position = positionAt(from, now - started, speed, steps());
    if (position !== store.get().position) store.set({ position });
    if (position >= steps()) store.set({ isPlaying: false });
    else requestAnimationFrame(frame);
  }

  function begin() {
    started = performance.now();
    from = store.get().position;
  }

  return {
    toggle() {
      const { isPlaying, position } = store.get();
      store.set({ isPlaying: !isPlaying, position: !isPlaying && position >= steps() ? 0 : position });
      begin();
      requestAnimationFrame(frame);
    },
    setSpeed(speed) {
      store.set({ speed });
      begin();
    },
    // Whoever moves by hand stops the film.
    moveTo(position) {
      store.set({ position: Math.min(steps(), Math.max(0, position)), isPlaying: false });
    },
  };
}
