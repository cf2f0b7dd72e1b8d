// The order in which hosts were to be fixed, and whether each fix followed it.

import { html, setAttributes, setText } from "./dom.js";
import { percent, plural } from "./numbers.js";

export function createWorkflow(index, jump) {
  const { workflow } = index.episode;
  const units = workflow.order.map((unit) => html("li", {}, unit));
  const now = html("p", { class: "small" });
  const fixes = [...index.fixes].map(([position, { unit, isCompliant }]) => {
    const name = `Step ${position}: fix of ${unit}, ${isCompliant ? "follows the order" : "breaks the order"}`;
    const about = { type: "button", class: `fix ${isCompliant ? "kept" : "broken"}`, "aria-label": name, title: name };
    const button = html("button", about, isCompliant ? "✓" : "✕");
    button.addEventListener("click", () => jump(position));
    return [position, button];
  });
  const node = html(
    "section",
    { class: "panel workflow", "aria-label": "Workflow" },
    html("h2", {}, "Workflow"),
    html("ol", { class: "order", "aria-label": "Order, the most urgent first" }, ...units),
    html("p", { class: "small" }, `${percent(workflow.rate)} of ${plural(fixes.length, "fix", "fixes")} followed the order.`),
    html("p", { class: "fixes" }, ...fixes.map(([, button]) => button)),
    now,
  );
  return {
    node,
    show(position) {
      const fix = index.fixes.get(position);
      setText(now, fix ? `This fix of ${fix.unit} ${fix.isCompliant ? "follows" : "breaks"} the order.` : "No fix at this step.");
      units.forEach((unit, k) => setAttributes(unit, { class: fix && workflow.order[k] === fix.unit ? "now" : "" }));
      for (const [at, button] of fixes) setAttributes(button, { "aria-current": at === position ? "step" : "false" });
    },
  };
}
