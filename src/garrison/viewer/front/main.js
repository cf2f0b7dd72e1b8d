// Read the data, build the page, and draw whatever changes.

import { readAddress, writeAddress } from "./address.js";
import { createDock } from "./dock.js";
import { html } from "./dom.js";
import { indexEpisode } from "./episode_index.js";
import { createFacts, createHead } from "./head.js";
import { createHelp } from "./help.js";
import { listenToKeys } from "./keys.js";
import { createLayerSwitch } from "./layer_switch.js";
import { createPlayer } from "./player.js";
import { createSide } from "./side.js";
import { createStore } from "./store.js";
import { createThemeButton } from "./theme.js";

const ADDRESS_DELAY = 200; // milliseconds: browsers refuse an address that changes with every frame

function start(page) {
  const indexes = page.episodes.map(indexEpisode);
  const shownOf = (episode) => (page.pair ? indexes.slice(0, 2) : [indexes[episode]]);
  const bounded = ({ position = 0, layer = "true", episode = 0 }) => {
    const chosen = page.pair ? 0 : Math.min(episode, indexes.length - 1);
    const longest = Math.max(...shownOf(chosen).map((index) => index.steps));
    return { position: Math.min(position, longest), layer, episode: chosen };
  };
  const store = createStore({ ...bounded(readAddress(location.hash)), isPlaying: false, speed: 5 });
  const steps = () => Math.max(...shownOf(store.get().episode).map((index) => index.steps));
  const player = createPlayer(store, steps);
  // The file counts turns from 0; position t + 1 shows turn t.
  const differs = page.pair?.first_difference ?? null;
  const firstDifference = differs === null ? null : differs + 1;
  const pick = (episode) => store.set({ ...bounded({ ...store.get(), episode }), isPlaying: false });
  const step = (by) => page.pair || pick((store.get().episode + by + indexes.length) % indexes.length);
  const choose = (layer) => store.set({ layer });

  const help = createHelp();
  const head = createHead(page, { pick, tools: [createThemeButton(), help.button] });
  const layers = createLayerSwitch(choose);
  const stage = html("main", { class: page.pair ? "pair" : "single" });
  const foot = html("div", { class: "foot" });
  document.getElementById("page").append(head.node, layers.node, stage, foot, help.dialog);
  let sides = [];
  let dock = null;

  function build(episode) {
    const shown = shownOf(episode);
    const titleOf = ({ episode: one }) => (page.pair ? createFacts(one) : null);
    sides = shown.map((index) => createSide(index, player.moveTo, titleOf(index)));
    dock = createDock(shown, player, { firstDifference, view: store.get });
    stage.replaceChildren(...sides.map((side) => side.node));
    foot.replaceChildren(dock.node);
    head.show(shown.map((index) => index.episode), episode);
  }

  let waiting = 0;
  store.listen((view, before) => {
    if (before === null || before.episode !== view.episode) build(view.episode);
    layers.show(view);
    for (const side of sides) side.show(view);
    dock.show(view);
    clearTimeout(waiting);
    const address = writeAddress(view, page.pair ? 1 : indexes.length);
    if (before !== null) waiting = setTimeout(() => keepAddress(address), ADDRESS_DELAY);
  });
  addEventListener("hashchange", () => {
    store.set({ ...bounded({ ...store.get(), ...readAddress(location.hash) }), isPlaying: false });
  });
  listenToKeys({ player, store, steps, choose, step, firstDifference, help });
  store.tell();
}

// In a frame without an address of its own there is none to keep.
function keepAddress(hash) {
  try {
    history.replaceState(null, "", hash);
  } catch {
    return;
  }
}

start({ title: "Episodes", pair: null, ...JSON.parse(document.getElementById("data").textContent) });
