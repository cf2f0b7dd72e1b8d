// All panels of one episode.

import { html } from "./dom.js";
import { createIntrusions } from "./intrusions.js";
import { createMap } from "./map.js";
import { createMetrics } from "./metrics.js";
import { createNotes } from "./notes.js";
import { createPolicy } from "./policy.js";
import { createReward } from "./reward.js";
import { createTurn } from "./turn.js";
import { createWhatIf } from "./what_if.js";
import { createWorkflow } from "./workflow_panel.js";

export function createSide(index, jump, title) {
  const { episode } = index;
  const map = createMap(index);
  const turn = createTurn(index);
  const decisions = [];
  if (episode.workflow) decisions.push(createWorkflow(index, jump));
  if (episode.notes) decisions.push(createNotes(index));
  if (episode.policy) decisions.push(createPolicy(index));
  if (index.whatIf.size) decisions.push(createWhatIf(index, jump));
  const reward = createReward(index, jump);
  const intrusions = createIntrusions(index, jump);
  const left = html("div", { class: "left" }, map.node, reward.node, intrusions.node);
  const right = html("div", { class: "right" }, turn.node, ...decisions.map((panel) => panel.node));
  // Where the column of decisions is the longer one, the numbers go to the other.
  (decisions.length > 1 ? left : right).append(createMetrics(index).node);
  const node = html("div", { class: "side" }, title, left, right);
  return {
    node,
    show(view) {
      const position = Math.min(view.position, index.steps);
      map.show(position, view.layer);
      for (const panel of [turn, ...decisions, reward, intrusions]) panel.show(position, view);
    },
  };
}
